// The prompt hook: prints the block or nothing, exits 0 whatever it is fed, and is never late.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runHook, transcript } from "../support/hook.js";
import { openTestMemory } from "../support/memory.js";
import { sql } from "../support/store.js";
import { tempFolder } from "../support/temp.js";

const PROMPT = "when did the parser rewrite land on staging?";
const NOTES = [
  "the parser rewrite landed on staging in march",
  "the garden needs tulips and fresh soil",
  "invoices are paid on the last friday of the month",
];

async function aDatabase(more: readonly { content: string; tags?: string[]; projectId?: string }[] = []) {
  const { service, path } = await openTestMemory({ settings: { CPERSONA_EMBEDDING_MODE: "static" } });
  for (const content of NOTES) await service.store({ content });
  for (const request of more) await service.store(request);
  await service.close();
  return path;
}

/** The address of a server that never answers. */
async function startSilentServer(): Promise<string> {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  return `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
}

const user = (text: string, more: object = {}) => ({
  type: "user",
  message: { role: "user", content: text },
  ...more,
});

describe("the hook", () => {
  it("prints the block for a prompt that the memory knows, with nothing on stderr", async () => {
    const { code, stdout, stderr } = await runHook(await aDatabase(), { prompt: PROMPT, session_id: "s" });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^<ambient-recall>\n[\s\S]*parser rewrite landed[\s\S]*<\/ambient-recall>\n$/);
    expect(stdout.isWellFormed()).toBe(true);
  });

  it("composes the last two human prompts with the current one, and takes nothing else from the transcript", async () => {
    const path = await aDatabase();
    const transcript_path = transcript(
      user(PROMPT),
      {
        type: "assistant",
        message: { role: "assistant", content: [{ type: "text", text: "tulips garden" }] },
      },
      user([{ type: "tool_result", content: "tulips soil garden" }] as never, { toolUseResult: {} }),
      user("tulips in the garden soil", { isSidechain: true }),
      user("tulips in the garden soil", { isMeta: true }),
      user("<local-command-stdout>tulips in the garden soil</local-command-stdout>"),
      "{ broken line",
    );
    const { stdout } = await runHook(path, { prompt: "continue with the next step", transcript_path });
    expect(stdout).toContain("parser rewrite landed");
    expect(stdout).not.toContain("tulips");
    const alone = await runHook(
      path,
      { prompt: "continue with the next step", transcript_path },
      { GAOTTT_AMBIENT_HISTORY_TURNS: "0" },
    );
    expect(alone.stdout).toBe("");
  });

  it("reads a huge transcript from its tail, and does without a missing one", async () => {
    const path = await aDatabase();
    const filler = JSON.stringify({ type: "assistant", message: { content: "x".repeat(10_000) } });
    const transcript_path = transcript(...Array.from({ length: 3000 }, () => filler), user(PROMPT));
    const { stdout } = await runHook(path, { prompt: "次のステップに進みましょう", transcript_path });
    expect(stdout).toContain("parser rewrite landed");
    const missing = await runHook(path, { prompt: PROMPT, transcript_path: "/nowhere/x.jsonl" });
    expect(missing).toMatchObject({ code: 0, stdout: expect.stringContaining("parser rewrite landed") });
  });

  const noWindows = process.platform === "win32";
  it.skipIf(noWindows)(
    "reads regular files only, and waits for no pipe, device, socket or folder",
    async () => {
      const path = await aDatabase();
      const folder = tempFolder();
      const at = (name: string): string => join(folder, name);
      execFileSync("mkfifo", [at("pipe")]);
      const socket = createServer(() => {});
      await new Promise<void>((resolve) => socket.listen(at("socket"), resolve));
      onTestFinished(() => void socket.close());
      symlinkSync(at("nothing"), at("dangling"));
      symlinkSync(at("pipe"), at("link"));
      const log = at("log");
      for (const odd of ["pipe", "socket", "dangling", "link", "."]
        .map(at)
        .concat("/dev/zero", "/dev/tty", "\0")) {
        const run = await runHook(
          path,
          { prompt: PROMPT, transcript_path: odd },
          { CPERSONA_AMBIENT_LOG: log },
        );
        expect(run).toMatchObject({ code: 0, stderr: "" });
        expect(run.stdout, odd).toContain("parser rewrite landed");
      }
      expect(readFileSync(log, "utf8")).not.toContain("timeout");
      const piped = { CPERSONA_AMBIENT_LOG: at("pipe"), CPERSONA_ACL_FILE: at("pipe") };
      expect(await runHook(path, { prompt: PROMPT }, piped)).toMatchObject({ code: 0, stdout: "" });
      expect(await runHook(at("pipe"), { prompt: PROMPT })).toMatchObject({ code: 0, stdout: "" });
    },
  );

  it("is not held up by a transcript that was made to be looked through for long", async () => {
    const path = await aDatabase();
    const manifest = `<ambient-recall> <!-- ambient-ids ${`a=${"b".repeat(40)}`.repeat(40)}! -->`;
    const transcript_path = transcript({ type: "tool", text: manifest }, "[".repeat(1_000_000));
    const { code, stdout } = await runHook(path, { prompt: PROMPT, transcript_path });
    expect(code).toBe(0);
    expect(stdout).toContain("parser rewrite landed");
  });

  it("repeats no key that was stored or typed, and leaves the row as it is", async () => {
    const key = `AKIA${"Q7".repeat(8)}`;
    const content = `the parser rewrite on staging uses the key ${key} and landed in march`;
    const path = await aDatabase([{ content }]);
    const env = { GAOTTT_AMBIENT_SHOW_COMPOSED_QUERY: "1" };
    const history = [`my key is ${key}`];
    const { stdout } = await runHook(path, { prompt: PROMPT, history }, env);
    expect(stdout).toContain("uses the key [secret] and landed");
    expect(stdout).toContain("my key is [secret]\\n");
    expect(stdout).not.toContain(key);
    expect(sql(path, `SELECT count(*) AS n FROM memories WHERE content = '${content}'`)).toEqual([{ n: 1 }]);
  });

  it("never fails on odd input", async () => {
    const path = await aDatabase();
    const inputs: (string | Buffer | object)[] = [
      "",
      "not json",
      "[]",
      "null",
      "42",
      '"text"',
      { prompt: 7 },
      { prompt: "" },
      { prompt: "  " },
      { prompt: "\ud83d lone" },
      Buffer.from([0xff, 0xfe, 0x00, 0x80]),
      { prompt: "x", transcript_path: 3, session_id: {}, cwd: [], history: "no", recently_surfaced: [1] },
    ];
    for (const input of inputs)
      expect(await runHook(path, input)).toMatchObject({ code: 0, stdout: "", stderr: "" });
    const paste = `${PROMPT} ${"const x = require('module'); ".repeat(2100)}`;
    expect(await runHook(path, { prompt: paste })).toMatchObject({ code: 0, stderr: "" });
  });

  it("is silent and makes nothing where there is no database", async () => {
    const path = join(tempFolder(), "deeper", "memory.db");
    expect(await runHook(path, { prompt: PROMPT })).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(existsSync(path)).toBe(false);
  });

  it("is silent for a damaged database, a newer schema, and somebody else's file", async () => {
    const damaged = join(tempFolder(), "memory.db");
    writeFileSync(damaged, "SQLite format 3\0 and then nothing of the kind".repeat(100));
    const newer = await aDatabase();
    sql(newer, "PRAGMA user_version = 999");
    const foreign = join(tempFolder(), "memory.db");
    sql(foreign, "CREATE TABLE things (id)");
    for (const path of [damaged, newer, foreign])
      expect(await runHook(path, { prompt: PROMPT })).toMatchObject({ code: 0, stdout: "" });
  });

  it("answers from a folder that cannot be written to", async () => {
    const path = await aDatabase();
    chmodSync(path, 0o444);
    const folder = join(path, "..");
    chmodSync(folder, 0o555);
    onTestFinished(() => chmodSync(folder, 0o755));
    expect(await runHook(path, { prompt: PROMPT, session_id: "s" })).toMatchObject({ code: 0 });
  });

  it("keeps to its time limit when nobody ends stdin", async () => {
    const { code, ms } = await runHook(await aDatabase(), null, { GAOTTT_AMBIENT_TIMEOUT: "0.4" });
    expect(code).toBe(0);
    expect(ms).toBeLessThan(5000);
  });

  it("is switched off by its setting, inside another hook, and for a prompt that holds a block", async () => {
    const path = await aDatabase();
    for (const value of ["0", "off", "false", "no", ""])
      expect((await runHook(path, { prompt: PROMPT }, { GAOTTT_AMBIENT_RECALL: value })).stdout).toBe("");
    expect((await runHook(path, { prompt: PROMPT }, { CPERSONA_HOOK_ACTIVE: "1" })).stdout).toBe("");
    const { stdout } = await runHook(path, { prompt: PROMPT });
    expect((await runHook(path, { prompt: `${PROMPT}\n${stdout}` })).stdout).toBe("");
  });

  it("leaves out test tags by default, and nothing when the setting is empty", async () => {
    const path = await aDatabase([
      { content: "parser rewrite landing rehearsal on staging", tags: ["smoke-test"] },
    ]);
    const prompt = "parser rewrite landing rehearsal on staging";
    expect((await runHook(path, { prompt })).stdout).not.toContain("rehearsal");
    const all = await runHook(path, { prompt }, { GAOTTT_AMBIENT_EXCLUDE_TAGS: "" });
    expect(all.stdout).toContain("rehearsal");
  });

  it("damps what this session was shown, by its own table and by the transcript's manifests", async () => {
    const path = await aDatabase([{ content: "the parser rewrite on staging broke imports" }]);
    const ask = (more: object) =>
      runHook(path, { prompt: "parser rewrite staging", ...more }, { GAOTTT_AMBIENT_DIRECT_K: "1" });
    const first = (await ask({ session_id: "a" })).stdout;
    const second = (await ask({ session_id: "a" })).stdout;
    expect(/direct=(\S+)/.exec(second)?.[1]).not.toBe(/direct=(\S+)/.exec(first)?.[1]);
    const attachment = { type: "hook_success", hookName: "UserPromptSubmit", content: first };
    const transcript_path = transcript({ attachment });
    const third = (await ask({ session_id: "b", transcript_path })).stdout;
    expect(third).toBe(second);
  });

  it("shows breakdown and composed text on request, and wraps the block for Codex", async () => {
    const path = await aDatabase();
    const settings = { GAOTTT_AMBIENT_EXPOSE_BREAKDOWN: "1", GAOTTT_AMBIENT_SHOW_COMPOSED_QUERY: "1" };
    const { stdout } = await runHook(path, { prompt: PROMPT, history: ["a\\b </ambient-recall>"] }, settings);
    expect(stdout).toMatch(/\[raw=-?\d\.\d{3} /);
    expect(stdout).toContain(`<!-- ambient: composed query = "a\\\\b &lt;/ambient-recall>\\n${PROMPT}" -->`);
    const codex = JSON.parse((await runHook(path, { prompt: PROMPT }, {}, ["--codex"])).stdout);
    expect(codex.hookSpecificOutput).toMatchObject({
      hookEventName: "UserPromptSubmit",
      additionalContext: expect.stringMatching(/^<ambient-recall>/),
    });
  });

  it("survives settings of a wrong kind", async () => {
    const settings = {
      GAOTTT_AMBIENT_DIRECT_K: "many",
      GAOTTT_AMBIENT_TIMEOUT: "soon",
      GAOTTT_AMBIENT_MIN_CHARS: "-3",
      GAOTTT_AMBIENT_MIN_SCORE: "high",
      GAOTTT_AMBIENT_HISTORY_TURNS: "-2",
    };
    expect((await runHook(await aDatabase(), { prompt: PROMPT }, settings)).stdout).toContain(
      "parser rewrite",
    );
  });

  it("writes its reasons to a log when asked, and only then", async () => {
    const log = join(tempFolder(), "ambient.log");
    const path = await aDatabase();
    for (const prompt of [PROMPT, "make the button blue please", "thank you so much"])
      await runHook(path, { prompt }, { CPERSONA_AMBIENT_LOG: log });
    const lines = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ outcome }) => outcome)).toEqual(["open", "evidence", "small talk"]);
    expect(readFileSync(log, "utf8")).not.toContain("button");
  });

  it("names the project after the prompt's folder when the setting says auto", async () => {
    const path = await aDatabase([
      { content: "the parser rewrite of alpha is on staging", projectId: "alpha" },
      { content: "the parser rewrite of beta is on staging", projectId: "beta" },
    ]);
    const cwd = "/somewhere/alpha";
    const { stdout } = await runHook(
      path,
      { prompt: "parser rewrite of alpha or beta", cwd },
      { CPERSONA_PROJECT_ID: "auto" },
    );
    expect(stdout).toContain("of alpha");
    expect(stdout).not.toContain("of beta");
  });

  it("answers by words while embedder and vector service hang", async () => {
    const settings = {
      CPERSONA_EMBEDDING_MODE: "http",
      CPERSONA_EMBEDDING_URL: `${await startSilentServer()}/embed`,
      CPERSONA_EMBEDDING_QUERY_TIMEOUT_MS: "600000",
      CPERSONA_VECTOR_SEARCH_MODE: "remote",
      CPERSONA_REMOTE_SEARCH_TIMEOUT_SECS: "600",
      GAOTTT_AMBIENT_TIMEOUT: "6",
    };
    const path = await aDatabase();
    for (const CPERSONA_STORE_BLOB of ["true", "false"]) {
      const { stdout } = await runHook(path, { prompt: PROMPT }, { ...settings, CPERSONA_STORE_BLOB });
      expect(stdout).toContain("parser rewrite landed");
    }
  });

  it("asks a server where one is named, and is silent when that is slow or away", async () => {
    const path = await aDatabase();
    const asked: unknown[] = [];
    let says = "<ambient-recall>\nfrom the server\n</ambient-recall>";
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on("end", () => {
        asked.push([request.url, request.headers.authorization, JSON.parse(body).query]);
        response.end(says);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { CPERSONA_AMBIENT_URL: `${url}/mcp`, CPERSONA_AUTH_TOKEN: "token" };
    expect((await runHook(path, { prompt: PROMPT }, env)).stdout).toContain("from the server");
    expect(asked).toEqual([["/ambient_recall", "Bearer token", PROMPT]]);
    says = `<ambient-recall>\nthe key is ghp_${"a1".repeat(18)}\n</ambient-recall>`;
    expect((await runHook(path, { prompt: PROMPT }, env)).stdout).toContain("the key is [secret]\n");
    for (says of [
      "<ambient-recall>\nhalf a block",
      "<html>",
      `<ambient-recall>${"x".repeat(2 << 20)}</ambient-recall>`,
    ])
      expect(await runHook(path, { prompt: PROMPT }, env)).toMatchObject({ code: 0, stdout: "", stderr: "" });
    const away = await runHook(path, { prompt: PROMPT }, { CPERSONA_AMBIENT_URL: "http://127.0.0.1:9" });
    expect(away).toMatchObject({ code: 0, stdout: "", stderr: "" });
    const slow = await runHook(
      path,
      { prompt: PROMPT },
      {
        CPERSONA_AMBIENT_URL: await startSilentServer(),
        GAOTTT_AMBIENT_TIMEOUT: "0.4",
      },
    );
    expect(slow).toMatchObject({ code: 0, stdout: "" });
    expect(slow.ms).toBeLessThan(5000);
  });
});
