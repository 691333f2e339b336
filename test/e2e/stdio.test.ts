// The server as a process: its pipes, its end, its odd starts.

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifies } from "../contract/verifies.js";
import { serverEnvironment, startServer } from "../support/client.js";
import { type EmbedStub, startEmbedStub } from "../support/embed-stub.js";
import { frames, type RawServer, startRaw } from "../support/process.js";
import { ROOT } from "../support/root.js";
import { DRIVER, type Settings } from "../support/settings.js";
import { tempFolder } from "../support/temp.js";

/** The promise is a second; a loaded machine gets more. */
const EXIT_DEADLINE_MS = 3000;

let stub: EmbedStub;
beforeAll(async () => {
  stub = await startEmbedStub();
});
afterAll(() => stub.close());

function start(settings: Settings = {}): RawServer {
  return startRaw({ env: serverEnvironment(join(tempFolder(), "memory.db"), settings) });
}

function callTool(
  server: RawServer,
  id: number,
  name: string,
  args: object,
): Promise<{ [key: string]: unknown }> {
  server.send({ id, method: "tools/call", params: { name, arguments: args } });
  return server
    .answer(id)
    .then(({ result }) => (result as { structuredContent: { [key: string]: unknown } }).structuredContent);
}

/** Waits for the end of the process, with a deadline from now. */
async function ended(server: RawServer): Promise<{ code: number | null; signal: string | null }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the server did not end")), EXIT_DEADLINE_MS);
  });
  const { code, signal } = await Promise.race([server.exit, late]);
  clearTimeout(timer);
  return { code, signal };
}

describe("a line that is no message", () => {
  it("is answered, and the session goes on", async () => {
    const server = start();
    await server.initialize();
    const text = "x".repeat(11 * 1024 * 1024);
    server.send({ id: 1, method: "tools/call", params: { name: "store", arguments: { content: text } } });
    expect(await server.answer(1)).toMatchObject({
      error: { code: -32_600, message: expect.stringContaining("more than 10485760 bytes") },
    });
    server.child.stdin.write("not JSON\n\xff\n[]\n");
    const nested = `${"[".repeat(60_000)}${"]".repeat(60_000)}`;
    const call = `{"name":"store","arguments":{"content":"x","metadata":{"a":${nested}}}}`;
    server.child.stdin.write(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":${call}}\n`);
    expect(await server.answer(2)).toMatchObject({ error: { code: -32_700 } });
    expect(await callTool(server, 3, "store", { content: "the session goes on" })).toMatchObject({
      ok: true,
    });
    server.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: 4, method: "ping" }));
    server.child.stdin.end();
    expect(await server.answer(4)).toMatchObject({ result: {} });
    expect((await ended(server)).code).toBe(0);
  });
});

describe("the start", () => {
  verifies("stdio.initialize-first", async () => {
    const server = start();
    const { result } = (await server.initialize()) as { result: { [key: string]: unknown } };
    expect(result["serverInfo"]).toMatchObject({ name: "cpersona-native", version: version() });
    expect(result["capabilities"]).toEqual({ tools: {} });
    expect(result["instructions"]).toMatch(/^Memory that lasts/);
  });

  interface OddStart {
    /** of the environment, given a folder of its own */
    env(folder: string): Readonly<Record<string, string | undefined>>;
    /** what the one line must say; null when the memory works */
    says: RegExp | null;
  }

  const file = (folder: string, content: string | Buffer): string => {
    const path = join(folder, "odd.db");
    writeFileSync(path, content);
    return path;
  };
  const oddStarts: Record<string, OddStart> = {
    "a file that is no database": {
      env: (folder) => ({ CPERSONA_DB_PATH: file(folder, "no database at all\n".repeat(500)) }),
      says: /cannot open the database/,
    },
    "a file cut in its header": {
      env: (folder) => ({ CPERSONA_DB_PATH: file(folder, "SQLite format 3\0\x10\0\x01\x01") }),
      says: /cannot open the database/,
    },
    "an empty file": { env: (folder) => ({ CPERSONA_DB_PATH: file(folder, "") }), says: null },
    "a folder that cannot be made": {
      env: (folder) => ({ CPERSONA_DB_PATH: join(file(folder, "a file"), "below", "memory.db") }),
      says: /cannot write the database file .*set CPERSONA_DB_PATH/,
    },
    "a folder in the place of the file": {
      env: (folder) => ({ CPERSONA_DB_PATH: folder }),
      says: /cannot write the database file .*set CPERSONA_DB_PATH/,
    },
    "a home that is no folder": {
      env: (folder) => ({
        CPERSONA_DB_PATH: undefined,
        HOME: file(folder, "a file"),
        XDG_DATA_HOME: undefined,
      }),
      says: /cannot write the database file .*set CPERSONA_DB_PATH/,
    },
    "no HOME": { env: () => ({ HOME: undefined }), says: null },
    "NODE_OPTIONS=--trace-warnings": { env: () => ({ NODE_OPTIONS: "--trace-warnings" }), says: null },
    "DEBUG=* and a talkative log": {
      env: () => ({
        DEBUG: "*",
        NODE_DEBUG: "module",
        CPERSONA_LOG_LEVEL: "debug",
        RUST_LOG: "trace",
        RUST_BACKTRACE: "1",
      }),
      says: null,
    },
    "settings without sense": {
      env: () => ({ CPERSONA_RRF_K: "many", CPERSONA_MAX_MEMORIES: "-1", CPERSONA_NATIVE: "perhaps" }),
      says: null,
    },
    "an embedding server that is not there": {
      env: () => ({ CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: "http://127.0.0.1:9/embed" }),
      says: null,
    },
    "the embedder inside the package": { env: () => ({ CPERSONA_EMBEDDING_MODE: "static" }), says: null },
    "the TypeScript twins": { env: () => ({ CPERSONA_NATIVE: "off" }), says: null },
    "a SQLite driver that does not work here": {
      env: () => ({ CPERSONA_SQLITE_DRIVER: missingDriver() ?? "auto" }),
      says: missingDriver() === null ? null : /no SQLite driver works on Node/,
    },
  };

  for (const [name, { env, says }] of Object.entries(oddStarts)) {
    verifies("stdio.only-protocol", name, async () => {
      const folder = tempFolder();
      const base = serverEnvironment(join(folder, "memory.db"));
      const server = startRaw({ env: { ...base, ...env(folder) } });
      expect(await server.initialize()).toHaveProperty("result");
      const stored = await callTool(server, 1, "store", { content: "umbrella" });
      const found = await callTool(server, 2, "recall", { query: "umbrella" });
      if (says === null) {
        expect(stored).toMatchObject({ ok: true, result: "stored" });
        expect(found["messages"]).toHaveLength(1);
      } else {
        expect(stored).toMatchObject({ ok: false, result: "rejected", reason: expect.stringMatching(says) });
        expect(found).toMatchObject({ ok: false, error: expect.stringMatching(says) });
        expect(found["error"]).not.toContain("\n");
        expect(server.stderr()).toMatch(says);
      }
      server.child.stdin.end();
      expect(await ended(server)).toEqual({ code: says === null ? 0 : 1, signal: null });
      expect(frames(server.stdout()).map((frame) => frame["id"])).toEqual([0, 1, 2]);
      expect(server.stdout()).toMatch(/\n$/);
    });
  }

  verifies("stdio.broken-storage-is-said", "and the file is left as it was", async () => {
    const path = join(tempFolder(), "memory.db");
    const content = "no database at all\n".repeat(500);
    writeFileSync(path, content);
    const server = await startServer({ databasePath: path });
    for (let i = 0; i < 2; i++)
      expect(await server.call("recall", { query: "x" })).toMatchObject({
        ok: false,
        error: expect.stringMatching(/^cannot open the database: /),
      });
    await server.close();
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  it("puts the database into the user's data folder when no path is set", async () => {
    const home = tempFolder();
    const { CPERSONA_DB_PATH: _, ...env } = serverEnvironment("");
    const server = startRaw({ env: { ...env, HOME: home, XDG_DATA_HOME: join(home, "data") } });
    await server.initialize();
    expect(await callTool(server, 1, "store", { content: "umbrella" })).toMatchObject({ ok: true });
    if (process.platform === "linux")
      expect(existsSync(join(home, "data", "cpersona-native", "memory.db"))).toBe(true);
  });

  verifies.skipIf(process.platform === "win32")("files.private", async () => {
    const folder = join(tempFolder(), "made", "by it");
    const path = join(folder, "memory.db");
    const server = await startServer({ databasePath: path });
    await server.call("store", { content: "umbrella" });
    expect(statSync(folder).mode & 0o077).toBe(0);
    for (const suffix of ["", "-wal", "-shm"]) expect(statSync(path + suffix).mode & 0o777).toBe(0o600);
  });
});

describe("the end", () => {
  verifies("stdio.ends-with-stdin", "at once, without a word", async () => {
    const server = start();
    server.child.stdin.end();
    expect(await ended(server)).toEqual({ code: 0, signal: null });
    expect(server.stdout()).toBe("");
  });

  verifies("stdio.ends-with-stdin", "after the calls that were sent are answered", async () => {
    const server = start({ CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: stub.url });
    await server.initialize();
    stub.delayMs = 100;
    try {
      for (let id = 1; id <= 3; id++)
        server.send({
          id,
          method: "tools/call",
          params: { name: "store", arguments: { content: `row ${id}` } },
        });
      server.child.stdin.end();
      expect(await ended(server)).toEqual({ code: 0, signal: null });
    } finally {
      stub.delayMs = 0;
    }
    const ids = frames(server.stdout()).map((frame) => frame["id"]);
    expect(ids.sort()).toEqual([0, 1, 2, 3]);
    expect(server.stdout().match(/\\"result\\":\\"stored\\"/g)).toHaveLength(3);
  });

  verifies("stdio.ends-with-stdin", "also while a call hangs", async () => {
    const server = start({ CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: stub.url });
    await server.initialize();
    stub.delayMs = 60_000;
    try {
      server.send({ id: 1, method: "tools/call", params: { name: "store", arguments: { content: "slow" } } });
      await new Promise((resolve) => setTimeout(resolve, 300));
      server.child.stdin.end();
      expect(await ended(server)).toEqual({ code: 0, signal: null });
      expect(frames(server.stdout()).length).toBeGreaterThanOrEqual(1);
    } finally {
      stub.delayMs = 0;
    }
  });

  verifies("stdio.ends-with-stdin", "also when nobody reads its answers", async () => {
    const server = start();
    await server.initialize();
    server.child.stdout.destroy();
    for (let id = 1; id <= 20; id++) server.send({ id, method: "tools/list" });
    server.child.stdin.end();
    expect((await ended(server)).signal).toBeNull();
  });

  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    verifies.skipIf(process.platform === "win32")("stdio.ends-on-signal", signal, async () => {
      const server = start();
      await server.initialize();
      expect(await callTool(server, 1, "store", { content: "umbrella" })).toMatchObject({ ok: true });
      server.child.kill(signal);
      expect(await ended(server)).toEqual({ code: 0, signal: null });
    });

  it("goes on after lines that are no frames", async () => {
    const server = start();
    await server.initialize();
    server.child.stdin.write('junk\n\n{"jsonrpc":"2.0"}\n[]\n{"jsonrpc":"2.0","id":7,"method":"nope"}\n');
    expect(await server.answer(7)).toMatchObject({ error: { code: -32601 } });
    expect(await callTool(server, 8, "recall", { query: "x" })).toHaveProperty("messages");
    frames(server.stdout());
  });
});

describe("the command line", () => {
  async function run(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
    const server = startRaw({ env: serverEnvironment(join(tempFolder(), "memory.db")), args });
    server.child.stdin.end();
    const { code } = await server.exit;
    return { code, out: server.stdout(), err: server.stderr() };
  }

  it("shows its version", async () => {
    expect(await run("--version")).toEqual({ code: 0, out: `${version()}\n`, err: "" });
  });

  it("shows its help with examples", async () => {
    const { code, out, err } = await run("--help");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/Usage: cpersona-native/);
    expect(out).toMatch(/Examples:\n.*cpersona-native/s);
  });

  it("refuses an unknown option on stderr", async () => {
    const { code, out, err } = await run("--no-such-option");
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("--no-such-option");
  });

  it("refuses an unknown command on stderr", async () => {
    expect(await run("no-such-command")).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/./) });
  });

  it("names the unknown command", async () => {
    expect((await run("no-such-command")).err).toContain("no-such-command");
  });

  it("stops with one line when a setting cannot be replaced by a default", async () => {
    const env = serverEnvironment(join(tempFolder(), "memory.db"), { CPERSONA_EMBEDDING_MODE: "magic" });
    const server = startRaw({ env });
    expect((await server.exit).code).toBe(1);
    expect(server.stdout()).toBe("");
    expect(server.stderr()).toBe(
      "cpersona-native: CPERSONA_EMBEDDING_MODE must be one of static, onnx, http, api, none\n",
    );
  });

  it("serves with the word serve, too", async () => {
    const server = await startServer({ args: ["serve"] });
    expect(await server.call("store", { content: "umbrella" })).toMatchObject({ ok: true });
  });
});

function version(): string {
  return (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string }).version;
}

/** A driver that cannot load on this Node, or null. */
function missingDriver(): string | null {
  const require = createRequire(import.meta.url);
  for (const driver of ["node:sqlite", "better-sqlite3"]) {
    if (driver === DRIVER) continue;
    try {
      const loaded = require(driver) as new (path: string) => object;
      if (driver === "better-sqlite3") new loaded(":memory:");
    } catch {
      return driver;
    }
  }
  return null;
}
