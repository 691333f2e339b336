// `bench hook`: what does a prompt wait for? The whole process as the host starts it, beside Node's own start,
// and the ambient recall alone.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemory } from "../../open-memory.js";
import { makeCorpus } from "./corpus.js";
import { ownCommand } from "./session.js";
import { say, type TableRow, timeCells, timed } from "./table.js";

const WARM = 3;

export async function benchHook(rows: number, runs: number): Promise<TableRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "cpersona-bench-"));
  try {
    const path = join(folder, "memory.db");
    const corpus = makeCorpus(7);
    const memory = await openMemory({ databasePath: path });
    for (let i = 0; i < rows; i++) {
      if (i % 1000 === 0) say(`storing ${i} of ${rows}`);
      await memory.store({ content: corpus.text(i) });
    }
    await memory.maintain();
    const prompt = corpus.queries["six common words"];
    const alone = await timed(runs, WARM, (run) => memory.ambient.recall({ query: prompt(run) }));
    await memory.close();
    say(`${rows} rows: the hook`);
    const { command, args, env } = ownCommand(path, {}, ["hook", "ambient"]);
    const whole = await timed(runs, WARM, (run) =>
      runToEnd(
        command,
        args,
        env,
        JSON.stringify({ prompt: prompt(run), session_id: `s${run}`, cwd: folder }),
      ),
    );
    const node = await timed(runs, WARM, () => runToEnd(process.execPath, ["-e", "0"], process.env, ""));
    return [
      { what: "hook, whole process", rows, ...timeCells(whole) },
      { what: "node -e 0", rows, ...timeCells(node) },
      { what: "ambient recall alone", rows, ...timeCells(alone) },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runToEnd(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input: string,
): Promise<void> {
  const child = spawn(command, args, { env, stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve());
  });
}
