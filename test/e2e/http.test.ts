// The HTTP server as its own process: who may call, what is refused, and that every door gives one answer.

import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { MAIN, serverEnvironment, startServer } from "../support/client.js";
import { runHook } from "../support/hook.js";
import { openTestMemory } from "../support/memory.js";
import type { Settings } from "../support/settings.js";
import { tempFolder } from "../support/temp.js";

const TOKEN = "tökën-1";
const HEADER = Buffer.from(TOKEN, "utf8").toString("latin1");

async function start(env: Settings = {}) {
  const { service, path } = await openTestMemory({ settings: { CPERSONA_EMBEDDING_MODE: "static" } });
  await service.store({ content: "the parser rewrite landed on staging in march" });
  await service.store({ content: "the garden needs tulips and fresh soil" });
  await service.close();
  const child = spawn(process.execPath, [MAIN, "serve", "--http", "--port", "0"], {
    env: serverEnvironment(path, { CPERSONA_EMBEDDING_MODE: "static", CPERSONA_AUTH_TOKEN: TOKEN, ...env }),
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const port = await new Promise<number>((resolve, reject) => {
    let text = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const found = /listening on http:\/\/[^:]+:(\d+)/.exec(text)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    child.once("close", () => reject(new Error(text)));
  });
  const call = (path: string, options: CallOptions = {}) => send(port, path, options);
  return { port, call, path, child };
}

interface CallOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | object | Buffer;
}

/** Raw requests: fetch would not let a test choose its Host. */
function send(port: number, path: string, { method = "POST", headers, body }: CallOptions) {
  return new Promise<{ status: number; text: string; headers: Record<string, unknown> }>(
    (resolve, reject) => {
      const sent = request(
        { host: "127.0.0.1", port, path, method, headers: { authorization: `Bearer ${HEADER}`, ...headers } },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
          );
        },
      );
      sent.on("error", reject);
      // As bytes: Node writes headers in the encoding of a text body.
      sent.end(
        body === undefined
          ? undefined
          : Buffer.from(
              typeof body === "string" || Buffer.isBuffer(body) ? (body as string) : JSON.stringify(body),
            ),
      );
    },
  );
}

const ROUTES = ["/mcp", "/recall", "/ambient_recall", "/health", "/nothing"];

describe("the HTTP server", () => {
  it("does not start open", async () => {
    const env = serverEnvironment("/nowhere/never.db", { CPERSONA_DB_PATH: ":memory:" });
    const { status, stderr } = spawnSync(process.execPath, [MAIN, "serve", "--http", "--port", "0"], {
      env,
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stderr).toContain("CPERSONA_AUTH_TOKEN");
  });

  it("answers only its own names, on every route", async () => {
    const { call, port } = await start();
    for (const path of ROUTES) {
      for (const host of ["evil.example", "localhost.evil.com", "127.0.0.1.evil.com"])
        expect([path, host, (await call(path, { headers: { host } })).status]).toEqual([path, host, 403]);
      for (const origin of ["null", "http://localhost.evil.com", "https://evil.example", "file://"])
        expect([path, origin, (await call(path, { headers: { origin } })).status]).toEqual([
          path,
          origin,
          403,
        ]);
    }
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect((await call("/health", { method: "GET", headers: { host } })).status).toBe(200);
    const origin = `http://localhost:${port}`;
    expect((await call("/health", { method: "GET", headers: { origin } })).status).toBe(200);
  });

  it("lets nobody in without the token, and says so the same way for all", async () => {
    const { call } = await start();
    const bad = [
      "",
      "Basic x",
      "Bearer",
      "Bearer ",
      "bearer x",
      `Bearer ${HEADER}x`,
      "Bearer t\u00e9",
      `Token ${HEADER}`,
    ];
    for (const authorization of bad) {
      for (const [path, method] of [
        ["/mcp", "POST"],
        ["/mcp", "GET"],
        ["/recall", "POST"],
        ["/nothing", "GET"],
      ] as const) {
        const answer = await call(path, { method, headers: { authorization } });
        expect([authorization, path, answer.status, answer.headers["www-authenticate"]]).toEqual([
          authorization,
          path,
          401,
          'Bearer realm="cpersona-native"',
        ]);
      }
    }
    const twice = await call("/recall", { headers: { authorization: [`Bearer ${HEADER}`, "Bearer x"] } });
    expect(twice.status).toBe(401);
    expect(
      (await call("/recall", { headers: { authorization: `bEaReR ${HEADER}` }, body: { query: "x" } }))
        .status,
    ).toBe(200);
  });

  it("refuses what is too large, no JSON, or no route", async () => {
    const { call } = await start({ CPERSONA_HTTP_MAX_BODY_BYTES: "5000" });
    expect((await call("/recall", { body: { query: "x".repeat(6000) } })).status).toBe(413);
    for (const body of ["[1]", "nonsense", "3"]) expect((await call("/recall", { body })).status).toBe(400);
    expect((await call("/recall", { body: { query: "x", limit: 1000 } })).status).toBe(400);
    expect((await call("/delete_memory", { body: { memory_id: 99 } })).status).toBe(404);
    expect((await call("/recall", { method: "GET" })).status).toBe(405);
    expect((await call("/mcp", { method: "GET" })).status).toBe(405);
    expect((await call("/nothing")).status).toBe(404);
  });

  it("refuses JSON that is nested too deep or no UTF-8 at every route, and lives on", async () => {
    const { call } = await start();
    const nested = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    for (const tool of ["store", "recall", "list_memories", "archive_episode"]) {
      const body = `{"content":"x","query":"x","metadata":{"a":${nested}},"history":${nested}}`;
      const refused = await call(`/${tool}`, { body });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain("nested more than");
    }
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"store","arguments":${nested}}}`;
    const deep = await call("/mcp", { body: message, headers });
    expect(deep.status).toBe(400);
    expect(JSON.parse(deep.text)).toMatchObject({
      error: { code: -32_700, message: expect.stringContaining("nested") },
    });
    const bytes = Buffer.from('{"content":"\xff"}', "latin1");
    expect((await call("/store", { body: bytes })).text).toContain("is not UTF-8");
    const asText = { content: "x", metadata: nested.slice(0, 200) + nested.slice(-200) };
    expect((await call("/store", { body: asText })).status).toBe(400);
    const shallow = { content: "the last", metadata: JSON.parse(`{"a":${"[".repeat(63)}${"]".repeat(63)}}`) };
    expect((await call("/store", { body: shallow })).status).toBe(200);
    const tooDeep = { content: "x", metadata: JSON.parse(`{"a":${"[".repeat(64)}${"]".repeat(64)}}`) };
    const said = await call("/store", { body: tooDeep });
    expect([said.status, said.text]).toEqual([400, expect.stringContaining("metadata must not be nested")]);
    expect((await call("/recall", { body: { query: "the last" } })).status).toBe(200);
  });

  it("speaks MCP to the SDK's own client", async () => {
    const { port } = await start();
    const client = new Client({ name: "test", version: "1" });
    onTestFinished(() => client.close());
    const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${HEADER}` } },
    });
    await client.connect(transport as Transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("ambient_recall");
    const answer = await client.callTool({ name: "recall", arguments: { query: "parser rewrite" } });
    expect(JSON.stringify(answer.structuredContent)).toContain("landed on staging");
  });

  it("ends on a signal", async () => {
    const { child } = await start();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  });
});

describe("every door", () => {
  it("gives the same ambient answer for the same arguments", async () => {
    const { call, path } = await start();
    const args = {
      query: "when did the parser rewrite land on staging",
      history: ["the parser again"],
      direct_k: 1,
      exclude_tags: ["smoke"],
      expose_breakdown: true,
      recently_surfaced: { "mem:2": 1 },
    };
    const rest = JSON.parse((await call("/ambient_recall", { body: args })).text);
    const { client } = await startServer({ databasePath: path, env: { CPERSONA_EMBEDDING_MODE: "static" } });
    const tool = async (format: string): Promise<string> => {
      const { content, structuredContent } = await client.callTool({
        name: "ambient_recall",
        arguments: { ...args, format },
      });
      expect(structuredContent).toBeUndefined();
      return (content as { text: string }[])[0]?.text ?? "";
    };
    const withoutAge = (answer: { direct: { age_days: number }[] }) => ({
      ...answer,
      direct: answer.direct.map((row) => ({ ...row, age_days: 0 })),
    });
    expect(rest.direct).toHaveLength(1);
    expect(withoutAge(JSON.parse(await tool("json")))).toEqual(withoutAge(rest));
    expect(await tool("text")).toBe(rest.text);
    expect((await call("/ambient_recall", { body: { ...args, format: "text" } })).text).toBe(rest.text);
    const options = [
      "--ambient",
      "--direct-k",
      "1",
      "--exclude-tags",
      "smoke",
      "--breakdown",
      "--surfaced",
      "mem:2=1",
      "--history",
      "the parser again",
    ];
    const cli = spawnSync(process.execPath, [MAIN, "recall", args.query, ...options], {
      env: serverEnvironment(path, { CPERSONA_EMBEDDING_MODE: "static" }),
      encoding: "utf8",
    });
    expect(cli.stdout).toBe(`${rest.text}\n`);
    const hook = await runHook(
      path,
      { prompt: args.query, history: args.history, recently_surfaced: args.recently_surfaced },
      {
        GAOTTT_AMBIENT_DIRECT_K: "1",
        GAOTTT_AMBIENT_EXCLUDE_TAGS: "smoke",
        GAOTTT_AMBIENT_EXPOSE_BREAKDOWN: "1",
      },
    );
    expect(hook.stdout).toBe(`${rest.text}\n`);
  });
});

describe("an access list", () => {
  it("takes the place of the token, and holds for REST and MCP", async () => {
    const file = join(tempFolder(), "acl.json");
    const clients = [
      { client_id: "reader", token: "reader-token", grants: { default: "read" } },
      { client_id: "stranger", token: "stranger-token", grants: { other: "read-write" } },
    ];
    writeFileSync(file, JSON.stringify({ clients }));
    const { call } = await start({ CPERSONA_ACL_FILE: file });
    const as = (token: string, path: string, body: object) =>
      call(path, { headers: { authorization: `Bearer ${token}` }, body });
    const query = { query: "parser rewrite landed" };
    expect((await as(HEADER, "/recall", query)).status).toBe(401);
    expect((await as("reader-token", "/ambient_recall", query)).text).toContain("landed on staging");
    expect((await as("reader-token", "/store", { content: "no" })).status).toBe(403);
    expect((await as("stranger-token", "/ambient_recall", query)).status).toBe(403);
    expect(
      (await as("stranger-token", "/relate", { from_ref: "mem:1", to_ref: "mem:2", type: "supports" }))
        .status,
    ).toBe(403);
  });
});
