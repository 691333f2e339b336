// npm run quality:ambient [-- --large]: the heat map of the golden corpus, and how often the gate opens at
// 10, 100, 1,000 (and with --large 20,000) memories. With the embedded default; nothing of the user's is read.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openMemory } from "../../dist/index.js";
import { heatMap, measureCorrection, measureGate, measureGolden } from "./ambient-quality.mjs";

const folder = mkdtempSync(join(tmpdir(), "ambient-quality-"));
let opened = 0;

const environment = (({ PATH = "", CPERSONA_NATIVE }) => ({
  PATH,
  ...(CPERSONA_NATIVE === undefined ? {} : { CPERSONA_NATIVE }),
}))(process.env);

async function withMemory(work) {
  const service = await openMemory({
    databasePath: join(folder, `${opened++}.db`),
    environment,
  });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

/** Medians of whole processes on the last database: the hook, and what Node's own start costs of it. */
function timeHook() {
  const main = fileURLToPath(new URL("../../dist/bin/main.js", import.meta.url));
  const env = { ...environment, CPERSONA_DB_PATH: join(folder, `${opened - 1}.db`) };
  const input = JSON.stringify({ prompt: "where does our staging database live and when is it wiped?" });
  const median = (args) => {
    const times = Array.from({ length: 15 }, () => {
      const started = performance.now();
      const { status } = spawnSync(process.execPath, args, { env, input });
      if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
      return performance.now() - started;
    });
    return times.sort((a, b) => a - b)[7].toFixed(0);
  };
  return `        hook process ${median([main, "hook", "ambient"])} ms, of which node itself ${median(["-e", "0"])} ms`;
}

const percent = (part, whole) => `${part}/${whole} (${Math.round((100 * part) / whole)} %)`;

try {
  const HOUR = 3_600_000;
  const runs = [
    ["golden corpus, memories of one hour to 90 days", {}],
    ["with one heavy persona", { heavy: true }],
    ["all memories one hour old", { ageMs: HOUR }],
    ["all memories 90 days old", { ageMs: 90 * 24 * HOUR }],
  ];
  for (const [title, options] of runs) {
    const rows = await withMemory((service) => measureGolden(service, options));
    console.log(`\n${title}: ${percent(rows.filter(({ isRight }) => isRight).length, rows.length)}`);
    console.log(heatMap(rows));
  }
  const correction = await withMemory(measureCorrection);
  console.log(
    `\ncorrection: first row "${correction.first}", marked ${correction.isMarked}, old one shown ${correction.showsOld}`,
  );

  console.log("\nthe gate");
  for (const rows of [10, 100, 1000, ...(process.argv.includes("--large") ? [20_000] : [])]) {
    const gate = await withMemory((service) => measureGate(service, rows));
    console.log(
      [
        `${String(rows).padStart(6)} memories: answered ${percent(gate.opened, gate.answered)}, right row first ${gate.first}`,
        `precision at direct_k 2 ${gate.precision.toFixed(2)}, false openings ${percent(gate.unanswered, gate.unansweredOf)}`,
        `small talk ${percent(gate.smallTalk, gate.smallTalkOf)}, connecting through history ${percent(gate.connected, gate.connectedOf)}, alone ${gate.connectedAlone}`,
        `call p50 ${gate.p50.toFixed(1)} ms, p95 ${gate.p95.toFixed(1)} ms`,
      ].join("; "),
    );
    console.log(timeHook());
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
