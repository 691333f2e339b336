// The embedding server dies and comes back: writes and imports go on, readers are told, and vectors that are
// missing fill in by themselves.

import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { verifies } from "../contract/verifies.js";
import { type Answer, serverEnvironment, startServer, type TestServer } from "../support/client.js";
import { type EmbedStub, startEmbedStub } from "../support/embed-stub.js";
import { openTestMemory } from "../support/memory.js";
import { startRaw } from "../support/process.js";
import type { Settings } from "../support/settings.js";
import { sql } from "../support/store.js";
import { tempFolder } from "../support/temp.js";

vi.setConfig({ testTimeout: 150_000 });
const LONG = { timeout: 120_000, interval: 250 };
const A = "agent-a";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function backend(port: number): Promise<EmbedStub> {
  const stub = await startEmbedStub(port);
  onTestFinished(() => stub.close());
  return stub;
}

function settings(port: number, more: Settings = {}): Settings {
  return {
    CPERSONA_EMBEDDING_MODE: "http",
    CPERSONA_EMBEDDING_URL: `http://kei:s3cret@127.0.0.1:${port}/embed`,
    CPERSONA_TASK_RETRY_DELAY: "1",
    CPERSONA_CALIBRATE_ON_MODEL_CHANGE: "false",
    ...more,
  };
}

const ask = (server: TestServer, query: string): Promise<Answer> =>
  server.call("recall", { agent_id: A, query, session_key: "s1" });
const pending = async (server: TestServer): Promise<number> =>
  (await server.call("get_queue_status", {}))["pending"];

describe("an embedding server that is away", () => {
  verifies(
    "meaning.vectors-come-back",
    "stops no write, is told of until all is well, and comes back by itself",
    async () => {
      const port = await freePort();
      const server = await startServer({ env: settings(port) });
      for (const content of ["my automobile is green", "tulips need water"]) {
        const stored = await server.call("store", { agent_id: A, content });
        expect(stored).toMatchObject({ result: "stored", embedded: false });
      }
      const first = await ask(server, "green automobile");
      expect(first["messages"].at(-1).content).toBe("my automobile is green");
      expect(first["advisory"]).toMatchObject({ severity: "fault", runbook: expect.any(String) });
      const second = await ask(server, "green automobile");
      expect(second["advisory"]).toMatchObject({ degraded: true, severity: "fault" });
      expect(second["advisory"]).not.toHaveProperty("runbook");

      const stub = await backend(port);
      await vi.waitFor(async () => expect(await ask(server, "car")).not.toHaveProperty("advisory"), LONG);
      expect((await ask(server, "car"))["messages"].at(-1).content).toBe("my automobile is green");
      expect(await pending(server)).toBe(0);
      expect(stub.asked.filter((text) => text === "tulips need water")).toHaveLength(1);
      expect(server.stderr()).toContain("stored without a vector");
      expect(server.stderr() + JSON.stringify([first, second])).not.toMatch(/s3cret|127\.0\.0\.1/);
    },
  );

  it("is told of as long as vectors are missing, also when it answers again", async () => {
    const port = await freePort();
    const server = await startServer({ env: settings(port) });
    for (let i = 0; i < 80; i++) await server.call("store", { agent_id: A, content: `automobile word${i}` });
    const stub = await backend(port);
    stub.refuses = "word7 ";
    stub.instead = (route, body) => (route === "embed" && body.texts.length > 1 ? {} : undefined);
    let advisory: Answer | undefined;
    await vi.waitFor(async () => {
      advisory = (await ask(server, `a new question ${Math.random()}`))["advisory"];
      expect(advisory).toMatchObject({ severity: "hint" });
    }, LONG);
    expect(advisory).toMatchObject({ reason: expect.stringContaining("no vector yet") });
    stub.instead = () => undefined;
    await vi.waitFor(async () => expect(await ask(server, "car")).not.toHaveProperty("advisory"), LONG);
  });

  verifies(
    "meaning.vectors-come-back",
    "may die in the middle of an import: all rows are there, and their vectors come later",
    async () => {
      const rows = 1500;
      const port = await freePort();
      const stub = await backend(port);
      const folder = tempFolder();
      const path = join(folder, "import.jsonl");
      const lines = Array.from({ length: rows }, (_, i) =>
        JSON.stringify({ _type: "memory", id: i + 1, agent_id: A, content: `automobile word${i}` }),
      );
      const header = JSON.stringify({ _type: "header", version: "cpersona-export/1.0" });
      writeFileSync(path, `${[header, ...lines].join("\n")}\n`);
      const server = await startServer({ env: settings(port) });
      // A first vector tells its identity; the fill then runs while the rows come in.
      await server.call("store", { agent_id: A, content: "before the import" });
      stub.delayMs = 30;
      const importing = server.call("import_memories", { input_path: path });
      await vi.waitFor(() => expect(stub.asked.length).toBeGreaterThan(1), LONG);
      await stub.close();
      expect(await importing).toMatchObject({ ok: true, imported_memories: rows });
      expect((await ask(server, "word1234"))["messages"].at(-1).content).toBe("automobile word1234");
      expect(await pending(server)).toBeGreaterThan(0);

      await backend(port);
      await vi.waitFor(async () => expect(await pending(server)).toBe(0), LONG);
      expect(sql(server.databasePath, "SELECT count(DISTINCT record_key) AS n FROM embeddings")).toEqual([
        { n: rows + 1 },
      ]);
      await vi.waitFor(async () => expect(await ask(server, "car")).not.toHaveProperty("advisory"), LONG);
    },
  );
});

describe("an import with vectors", () => {
  it("goes on when the server dies while it is asked about them", async () => {
    const rows = 200;
    const port = await freePort();
    const stub = await backend(port);
    const path = join(tempFolder(), "export.jsonl");
    const source = await openTestMemory({ settings: settings(port) });
    for (let i = 0; i < rows; i++) await source.service.store({ agentId: A, content: `automobile word${i}` });
    const request = { agentId: A, outputPath: path, embeddings: true, unconfined: true };
    await source.service.maintenance.exportMemories(request);
    const server = await startServer({ env: settings(port) });
    stub.delayMs = 60_000;
    const asked = stub.requests.length;
    const importing = server.call("import_memories", { input_path: path });
    await vi.waitFor(() => expect(stub.requests.length).toBeGreaterThan(asked), LONG);
    await stub.close();
    expect(await importing).toMatchObject({ ok: true, imported_memories: rows });

    await backend(port);
    await ask(server, "car");
    await vi.waitFor(
      () =>
        expect(
          sql(
            server.databasePath,
            "SELECT count(DISTINCT record_key) AS n FROM embeddings JOIN embedders ON code = embedder WHERE identity = 'http:stub:256'",
          ),
        ).toEqual([{ n: rows }]),
      LONG,
    );
    await vi.waitFor(async () => expect(await ask(server, "car")).not.toHaveProperty("advisory"), LONG);
    expect((await ask(server, "car"))["messages"].length).toBeGreaterThan(0);
  });
});

describe("a vector service that is away", () => {
  verifies(
    "meaning.vector-service-catches-up",
    "is told later what it missed, through a kill, by one of several processes",
    async () => {
      const port = await freePort();
      const stub = await backend(port);
      const env = settings(port, { CPERSONA_VECTOR_SEARCH_MODE: "remote" });
      const databasePath = join(tempFolder(), "memory.db");
      stub.statusOf.index = 503;
      const first = startRaw({ env: serverEnvironment(databasePath, env) });
      await first.initialize();
      const rows = 300;
      for (let i = 0; i < rows; i++) {
        const args = { agent_id: A, content: `automobile word${i}` };
        first.send({ id: i + 1, method: "tools/call", params: { name: "store", arguments: args } });
      }
      await first.answer(rows);
      await vi.waitFor(
        () => expect(sql(databasePath, "SELECT count(*) AS n FROM memories")).toEqual([{ n: rows }]),
        LONG,
      );
      first.child.kill("SIGKILL");
      await first.exit;
      expect(stub.namespaces.get(`cpersona:${A}`)?.size ?? 0).toBe(0);

      stub.statusOf.index = 200;
      stub.requests.length = 0;
      const servers = await Promise.all([0, 1, 2].map(() => startServer({ databasePath, env })));
      await vi.waitFor(() => expect(stub.namespaces.get(`cpersona:${A}`)?.size).toBe(rows), LONG);
      const [server] = servers as [TestServer];
      await vi.waitFor(async () => expect(await pending(server)).toBe(0), LONG);
      const pushed = stub.requests
        .filter(({ route }) => route === "index")
        .flatMap(({ body }) => body.items as { id: string }[]);
      expect(pushed.length).toBeLessThanOrEqual(rows + 128);
      expect((await ask(server, "car"))["messages"].length).toBeGreaterThan(0);

      await server.call("delete_agent_data", { agent_id: A });
      await vi.waitFor(() => expect(stub.namespaces.has(`cpersona:${A}`)).toBe(false), LONG);
      for (const one of servers) expect(one.stderr()).not.toMatch(/s3cret|127\.0\.0\.1/);
    },
  );
});
