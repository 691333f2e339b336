// Another model behind the same address: restarted, killed half-way, with eight servers at once, and while a
// server runs.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { verifies } from "../contract/verifies.js";
import { serverEnvironment, startServer, type TestServer } from "../support/client.js";
import { type EmbedStub, startEmbedStub } from "../support/embed-stub.js";
import { openTestMemory } from "../support/memory.js";
import { startRaw } from "../support/process.js";
import type { Settings } from "../support/settings.js";
import { sql } from "../support/store.js";

vi.setConfig({ testTimeout: 120_000 });
const LONG = { timeout: 90_000, interval: 200 };

let stub: EmbedStub;
beforeEach(async () => {
  stub = await startEmbedStub();
});
afterEach(() => stub.close());

const A = "agent-a";
/** Some share a meaning with "car", none a word. */
const textOf = (i: number): string => `automobile word${i}`;

function settings(more: Settings = {}): Settings {
  return {
    CPERSONA_EMBEDDING_MODE: "http",
    CPERSONA_EMBEDDING_URL: stub.url,
    CPERSONA_TASK_RETRY_DELAY: "1",
    CPERSONA_CALIBRATE_ON_MODEL_CHANGE: "false",
    ...more,
  };
}

/** A database of rows with the vectors of the stub's present model. */
async function filled(rows: number): Promise<string> {
  const { service, path } = await openTestMemory({ settings: settings() });
  for (let i = 0; i < rows; i++) await service.store({ agentId: A, content: textOf(i) });
  await service.close();
  stub.asked.length = 0;
  return path;
}

/** Records with vectors by model, and vectors of them. */
function vectors(path: string): Record<string, { records: number; vectors: number }> {
  const rows = sql(
    path,
    `SELECT identity, count(DISTINCT record_key) AS records, count(*) AS vectors
     FROM embeddings JOIN embedders ON code = embedder GROUP BY code`,
  );
  return Object.fromEntries(
    rows.map((row) => [
      String(row["identity"]).split(":")[1],
      { records: Number(row["records"]), vectors: Number(row["vectors"]) },
    ]),
  );
}

const whole = (rows: number) => ({ records: rows, vectors: rows });
const askedFor = (rows: number): number[] =>
  Array.from({ length: rows }, (_, i) => stub.asked.filter((text) => text === textOf(i)).length);
const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

async function meansCar(server: TestServer): Promise<number> {
  const { messages } = await server.call("recall", { agent_id: A, query: "car", limit: 5 });
  return messages.length;
}

describe("another model", () => {
  verifies(
    "meaning.model-change",
    "is followed there and back: nothing is embedded twice, nothing is lost on the way",
    async () => {
      const path = await filled(100);
      stub.model = "other";
      const there = await startServer({ databasePath: path, env: settings() });
      // Lexical recall goes on, whatever the vectors are.
      const early = await there.call("recall", { agent_id: A, query: "word42" });
      expect(early["messages"].at(-1).content).toBe(textOf(42));
      await vi.waitFor(() => expect(vectors(path)).toEqual({ stub: whole(100), other: whole(100) }), LONG);
      expect(sum(askedFor(100))).toBe(100);
      expect(await meansCar(there)).toBe(5);
      await there.close();
      stub.model = "stub";
      stub.asked.length = 0;
      const back = await startServer({ databasePath: path, env: settings() });
      await back.call("store", { agent_id: A, content: textOf(100) });
      expect(await meansCar(back)).toBe(5);
      await vi.waitFor(
        async () => expect((await back.call("get_queue_status", {}))["pending"]).toBe(0),
        LONG,
      );
      expect(sum(askedFor(101))).toBe(1);
      expect(vectors(path)).toEqual({ stub: whole(101), other: whole(100) });
    },
  );

  verifies(
    "meaning.model-change",
    "is followed through a kill: what was done stays, the rest is done by the next process",
    async () => {
      const rows = 400;
      const path = await filled(rows);
      stub.model = "other";
      stub.delayMs = 150;
      const first = startRaw({ env: serverEnvironment(path, settings()) });
      await first.initialize();
      await vi.waitFor(() => expect(vectors(path)["other"]?.records ?? 0).toBeGreaterThan(100), LONG);
      first.child.kill("SIGKILL");
      await first.exit;
      const half = vectors(path);
      expect(half["stub"]).toEqual(whole(rows));
      expect(half["other"]?.records).toBeLessThan(rows);
      stub.delayMs = 0;
      const next = await startServer({ databasePath: path, env: settings() });
      await next.call("recall", { agent_id: A, query: "car" });
      const health = await next.call("check_health", { agent_id: "", checks: ["null_embedding"] });
      // Between the recall and this call the rest may be done already.
      for (const issue of health["issues"])
        expect(issue).toMatchObject({
          total: rows,
          hint: expect.stringMatching(/^\d+ of 400 memories embedded/),
        });
      await vi.waitFor(() => expect(vectors(path)).toEqual({ stub: whole(rows), other: whole(rows) }), LONG);
      // One step of 64 may have been embedded and not written.
      expect(sum(askedFor(rows))).toBeLessThanOrEqual(rows + 64);
      expect(await meansCar(next)).toBe(5);
    },
  );

  verifies("meaning.model-change", "is followed by one of eight servers for all of them", async () => {
    const rows = 300;
    const path = await filled(rows);
    stub.model = "other";
    stub.delayMs = 50;
    const servers = await Promise.all(
      Array.from({ length: 8 }, () => startServer({ databasePath: path, env: settings() })),
    );
    await vi.waitFor(() => expect(vectors(path)).toEqual({ stub: whole(rows), other: whole(rows) }), LONG);
    stub.delayMs = 0;
    for (const server of servers) expect(await meansCar(server)).toBe(5);
    expect(sum(askedFor(rows))).toBeLessThanOrEqual(rows + 64);
    const twice = sql(
      path,
      "SELECT record_key FROM embeddings GROUP BY record_key, embedder HAVING count(*) > 1",
    );
    expect(twice).toEqual([]);
    for (const server of servers) expect(server.stderr()).toBe("");
  });

  verifies("meaning.model-change", "is followed by eight servers that go on running", async () => {
    const rows = 200;
    const path = await filled(rows);
    const servers = await Promise.all(
      Array.from({ length: 8 }, () => startServer({ databasePath: path, env: settings() })),
    );
    for (const server of servers) expect(await meansCar(server)).toBe(5);
    stub.model = "other";
    stub.dimension = 64;
    await Promise.all(
      servers.map((server, i) => server.call("store", { agent_id: A, content: textOf(rows + i) })),
    );
    await vi.waitFor(() => expect(vectors(path)["other"]).toEqual(whole(rows + 8)), LONG);
    for (const server of servers)
      await vi.waitFor(async () => {
        const answer = await server.call("recall", { agent_id: A, query: "car", limit: 5 });
        expect(answer).not.toHaveProperty("advisory");
        expect(answer["messages"]).toHaveLength(5);
      }, LONG);
    expect(vectors(path)["stub"]).toEqual(whole(rows));
    // Each server's first text met the change and was embedded again, and one step may have been lost.
    expect(sum(askedFor(rows + 8))).toBeLessThanOrEqual(rows + 16 + 64);
  });

  it.each([
    ["of the same width", 256],
    ["of another width", 128],
  ])("%s is followed without a restart", async (_, dimension) => {
    const path = await filled(40);
    const server = await startServer({ databasePath: path, env: settings() });
    expect(await meansCar(server)).toBe(5);
    stub.model = "other";
    stub.dimension = dimension;
    await server.call("store", { agent_id: A, content: textOf(40) });
    await vi.waitFor(() => expect(vectors(path)["other"]).toEqual(whole(41)), LONG);
    await vi.waitFor(async () => {
      const { messages, advisory } = await server.call("recall", { agent_id: A, query: "car", limit: 5 });
      expect(advisory).toBeUndefined();
      expect(messages).toHaveLength(5);
    }, LONG);
    expect(vectors(path)["stub"]).toEqual(whole(40));
    const status = await server.call("check_health", {
      agent_id: "",
      checks: ["embedding_backend", "null_embedding"],
    });
    expect(status).toMatchObject({ status: "healthy", issues: [] });
  });
});

describe("another model that no answer names", () => {
  it("of the same width is noticed by the server's fingerprint", async () => {
    stub.namesModel = false;
    const path = await filled(30);
    stub.model = "other";
    const server = await startServer({ databasePath: path, env: settings() });
    await vi.waitFor(() => expect(Object.values(vectors(path))).toEqual([whole(30), whole(30)]), LONG);
    expect(sum(askedFor(30))).toBe(30);
    expect(await meansCar(server)).toBe(5);
  });
});

describe("doctor", () => {
  it("says how far it is", async () => {
    const path = await filled(5);
    stub.model = "other";
    const doctor = startRaw({ env: serverEnvironment(path, settings()), args: ["doctor"] });
    await doctor.exit;
    expect(doctor.stdout()).toContain("0 of 5 memories embedded with the present model");
  });
});
