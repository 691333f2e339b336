// Export and import by the command line and by MCP, in real processes.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MAIN, serverEnvironment, startServer } from "../support/client.js";
import { tempFolder } from "../support/temp.js";

const STATIC = { CPERSONA_EMBEDDING_MODE: "static" };

function run(databasePath: string, ...args: string[]) {
  const env = serverEnvironment(databasePath, STATIC);
  const done = spawnSync(process.execPath, [MAIN, ...args], { env, encoding: "utf8", timeout: 30_000 });
  // Where no addon is built the command says so, whatever else it does.
  return { ...done, stderr: done.stderr.replace(/^.*no native addon.*\n/m, "") };
}

function records(count: number): string {
  const lines = Array.from({ length: count }, (_, i) => ({
    _type: "memory",
    agent_id: "agent-a",
    content: `note ${i}`,
  }));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

describe("the command line", () => {
  it("exports, imports and embeds what came without vectors", () => {
    const folder = tempFolder();
    const given = join(folder, "given.jsonl");
    writeFileSync(given, records(300));
    const db = join(folder, "memory.db");
    const dry = run(db, "import", given, "--dry-run");
    expect(dry.stdout).toContain("300 memories would be imported, 0 skipped");
    const wet = run(db, "import", given, "--agent", "agent-z");
    expect([wet.status, wet.stderr]).toEqual([0, ""]);
    expect(wet.stdout).toContain("300 memories imported, 0 skipped");
    expect(wet.stdout).toContain("300 rows embedded");
    const out = join(folder, "out.jsonl");
    expect(run(db, "export", out, "--embeddings").stdout).toContain("300 memories, 0 episodes, 0 profiles");
    const lines = readFileSync(out, "utf8").trimEnd().split("\n");
    expect(JSON.parse(lines[300] as string)).toMatchObject({
      agent_id: "agent-z",
      embedding_model: expect.stringMatching(/^static:/),
    });
    const again = run(join(folder, "second.db"), "import", out);
    expect(again.stdout).toContain("300 vectors used, 0 left");
  });

  it("says in one line why a file is refused, and exits with 1", () => {
    const folder = tempFolder();
    const cut = join(folder, "cut.jsonl");
    writeFileSync(cut, records(3).slice(0, -10));
    const { status, stderr, stdout } = run(join(folder, "memory.db"), "import", cut);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "cpersona-native: import aborted, nothing was imported: line 3 of the file is not JSON; it is cut or damaged\n",
    );
  });

  it("does not start with an access list that is wrong", () => {
    const folder = tempFolder();
    const acl = join(folder, "acl.json");
    writeFileSync(acl, "{");
    const env = { ...serverEnvironment(join(folder, "memory.db")), CPERSONA_ACL_FILE: acl };
    for (const args of [[], ["serve"]]) {
      const { status, stderr, stdout } = spawnSync(process.execPath, [MAIN, ...args], {
        env,
        encoding: "utf8",
        input: "",
        timeout: 30_000,
      });
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toBe("cpersona-native: CPERSONA_ACL_FILE: the file is not JSON\n");
    }
  });
});

describe("import over MCP", () => {
  it("tells how far it is to a client that asks", async () => {
    const path = join(tempFolder(), "given.jsonl");
    writeFileSync(path, records(900));
    const { client } = await startServer();
    const seen: { progress: number; total?: number | undefined }[] = [];
    const request = { name: "import_memories", arguments: { input_path: path } };
    const result = await client.callTool(request, undefined, {
      onprogress: (update) => void seen.push(update),
    });
    expect(result.structuredContent).toMatchObject({ ok: true, imported_memories: 900 });
    expect(seen.length).toBeGreaterThan(0);
    // The SDK's client drops what arrives in one piece with the answer, so the last one may be missing.
    for (const { total } of seen) expect(total).toBe(900);
    const steps = seen.map(({ progress }) => progress);
    expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
  });

  it("writes nothing while the session is paused", async () => {
    const path = join(tempFolder(), "given.jsonl");
    writeFileSync(path, records(3));
    const { call } = await startServer();
    await call("pause_persistence", { session_key: "s" });
    const paused = { session_key: "s", input_path: path };
    expect(await call("import_memories", paused)).toMatchObject({
      ok: true,
      dry_run: true,
      persisted: false,
      imported_memories: 3,
    });
    const health = await call("check_health", { fix: true, session_key: "s" });
    expect(health).toMatchObject({ fixed: false, repairs_skipped: true });
    expect(await call("list_memories", { agent_id: "agent-a" })).toMatchObject({ count: 0 });
  });
});
