import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readConfig } from "../../../ts/config.js";
import { verifies } from "../../contract/verifies.js";
import { startInProcess } from "../../support/client.js";
import { type EmbedStub, startEmbedStub } from "../../support/embed-stub.js";
import { openTestMemory, type TestMemoryOptions } from "../../support/memory.js";
import { sql } from "../../support/store.js";
import { tempFolder } from "../../support/temp.js";

let stub: EmbedStub;
beforeEach(async () => {
  stub = await startEmbedStub();
});
afterEach(() => stub.close());

const A = "agent-a";

function remote(more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return {
    CPERSONA_EMBEDDING_MODE: "http",
    CPERSONA_EMBEDDING_URL: stub.url,
    CPERSONA_VECTOR_SEARCH_MODE: "remote",
    ...more,
  };
}

async function open(more: Readonly<Record<string, string>> = {}, options: TestMemoryOptions = {}) {
  const memory = await openTestMemory({ ...options, settings: remote(more) });
  const store = (content: string, scope: object = {}) =>
    memory.service.store({ agentId: A, content, ...scope });
  const recall = async (query: string, more: object = {}) => {
    const answer = await memory.service.recall({ agentId: A, query, ...more });
    const texts = answer.hits.flatMap(({ row }) => (row.kind === "mem" ? [row.memory.content] : []));
    return { ...answer, texts };
  };
  return { ...memory, store, recall };
}

const held = (agent = A): Record<string, string> =>
  Object.fromEntries(stub.namespaces.get(`cpersona:${agent}`) ?? []);
const routes = (): string[] => stub.requests.map(({ route }) => route);

describe("what is stored", () => {
  it("is at the service soon after the store answers, and follows every change", async () => {
    const { service, store } = await open();
    const first = await store("my automobile is green");
    expect(first).toMatchObject({ result: "stored", id: 1, embedded: true });
    await service.archiveEpisode({ agentId: A, summary: "we spoke of cars" });
    await vi.waitFor(() =>
      expect(held()).toEqual({ "mem:1": "my automobile is green", "ep:1": "we spoke of cars" }),
    );
    await service.updateMemory(1, "my automobile is red", { agentId: A });
    await vi.waitFor(() => expect(held()["mem:1"]).toBe("my automobile is red"));
    await store("tulips need water");
    service.deleteMemory(1, { agentId: A });
    service.deleteEpisode(1, { agentId: A });
    await vi.waitFor(() => expect(held()).toEqual({ "mem:2": "tulips need water" }));
    expect(routes()).not.toContain("purge");
  });

  verifies("meaning.vector-service-purge", "is purged with its agent, and nobody else's", async () => {
    const { service, store } = await open();
    await store("mine");
    await store("theirs", { agentId: "agent-b" });
    await service.deleteAgentData(A);
    await vi.waitFor(() => expect(routes()).toContain("purge"));
    await vi.waitFor(() => expect(stub.namespaces.has(`cpersona:${A}`)).toBe(false));
    expect(held("agent-b")).toEqual({ "mem:2": "theirs" });
    expect(service.maintenance.queueStatus().pending).toBe(0);
  });

  it("has no vector here where CPERSONA_STORE_BLOB is false", async () => {
    const { store, path, service } = await open({ CPERSONA_STORE_BLOB: "false" });
    expect(await store("my automobile is green")).toMatchObject({ embedded: true });
    stub.statusOf.index = 500;
    expect(await store("tulips need water")).toMatchObject({ embedded: false });
    stub.statusOf.index = 200;
    await service.maintain();
    expect(sql(path, "SELECT count(*) AS n FROM embeddings")).toEqual([{ n: 0 }]);
    expect(Object.keys(held())).toEqual(["mem:1", "mem:2"]);
    expect(stub.asked).toEqual([]);
  });

  it("does not count as embedded where the service alone keeps vectors and refuses the text", async () => {
    const { store } = await open({ CPERSONA_STORE_BLOB: "false" });
    await store("my automobile is green");
    stub.refuses = "poison";
    expect(await store("poison")).toMatchObject({ result: "stored", embedded: false });
    stub.refuses = null;
    expect(await store("antidote")).toMatchObject({ embedded: true });
  });

  it("is stored at once while the service hangs, and goes there in one request later", async () => {
    const { store } = await open();
    await store("my automobile is green");
    await vi.waitFor(() => expect(Object.keys(held())).toHaveLength(1));
    let release = (): void => {};
    stub.held = {
      route: "index",
      until: new Promise((resolve) => {
        release = resolve;
      }),
    };
    for (const content of ["one", "two", "three", "four"])
      expect(await store(content)).toMatchObject({ result: "stored", embedded: true });
    release();
    await vi.waitFor(() => expect(Object.keys(held())).toHaveLength(5));
    const sizes = stub.requests.filter(({ route }) => route === "index").map(({ body }) => body.items.length);
    expect(sizes).toEqual([1, 1, 3]);
  });
});

describe("what the service missed", () => {
  verifies("meaning.vector-service-catches-up", "is noticed and repeated, deletions too", async () => {
    const { service, store, recall } = await open();
    await store("kept and known");
    await store("deleted during the outage");
    stub.statusOf.index = 500;
    stub.statusOf.remove = 500;
    expect(await store("stored during the outage")).toMatchObject({ result: "stored", embedded: true });
    await service.updateMemory(1, "changed during the outage", { agentId: A });
    service.deleteMemory(2, { agentId: A });
    expect(service.maintenance.queueStatus().pending).toBe(2);
    expect((await recall("deleted during the outage")).texts).not.toContain("deleted during the outage");
    const sick = await service.maintenance.checkHealth({
      agentId: "",
      fix: false,
      checks: ["remote_vectors"],
    });
    expect(sick.issues).toMatchObject([{ check: "remote_vectors", severity: "warn" }]);
    stub.statusOf.index = 200;
    stub.statusOf.remove = 200;
    await service.close();
    // The next process finds the difference, whatever this one knew.
    const next = await openTestMemory({ path: databasePath(service), settings: remote() });
    await next.service.maintain();
    expect(held()).toEqual({ "mem:1": "changed during the outage", "mem:3": "stored during the outage" });
    expect(next.service.maintenance.queueStatus().pending).toBe(0);
    const well = await next.service.maintenance.checkHealth({ agentId: "", fix: false, checks: [] });
    expect(well.issues.map(({ check }) => check)).not.toContain("remote_vectors");
  });

  it("is everything of a store that was local before, in chunks, by agent", async () => {
    const local = await openTestMemory();
    for (let i = 0; i < 150; i++) await local.service.store({ agentId: A, content: `note number ${i}` });
    await local.service.store({ agentId: "agent-b", content: "a note of another" });
    await local.service.close();
    const { service } = await open({}, { path: local.path });
    await service.maintain();
    expect(Object.keys(held())).toHaveLength(150);
    expect(held("agent-b")).toEqual({ "mem:151": "a note of another" });
    const sizes = stub.requests.filter(({ route }) => route === "index").map(({ body }) => body.items.length);
    expect(sizes).toEqual([63, 1, 64, 23]);
  });

  it("comes with an import and with a merge, by itself", async () => {
    const { service, store } = await open();
    for (let i = 0; i < 5; i++) await store(`note number ${i}`);
    const file = join(tempFolder(), "export.jsonl");
    await service.maintenance.exportMemories({
      agentId: A,
      outputPath: file,
      embeddings: false,
      unconfined: true,
    });
    await service.maintenance.importMemories({
      inputPath: file,
      targetAgent: "agent-b",
      dryRun: false,
      unconfined: true,
    });
    await vi.waitFor(() => expect(Object.values(held("agent-b"))).toHaveLength(5));
    await service.maintenance.mergeMemories({
      sourceAgent: A,
      targetAgent: "agent-c",
      mode: "move",
      dryRun: false,
    });
    await vi.waitFor(() => expect(Object.keys(held("agent-c"))).toHaveLength(5));
    await vi.waitFor(() => expect(held()).toEqual({}));
  });

  it("is all but the one text that it refuses", async () => {
    const local = await openTestMemory();
    for (let i = 0; i < 9; i++) await local.service.store({ agentId: A, content: `note ${i}` });
    await local.service.store({ agentId: A, content: "poison" });
    await local.service.close();
    const { service } = await open({}, { path: local.path });
    await service.recall({ agentId: A, query: "note" });
    stub.refuses = "poison";
    await service.maintain();
    expect(Object.keys(held())).toHaveLength(9);
    // The same text has no vector here either: `/embed` refuses it too.
    expect(service.maintenance.queueStatus().pending).toBe(2);
  });

  it("is everything when the service embeds with another model", async () => {
    const { service, store, path } = await open();
    await store("my automobile is green");
    await store("tulips need water");
    await service.maintain();
    await service.close();
    stub.model = "other";
    stub.requests.length = 0;
    const { service: next } = await open({}, { path });
    await next.maintain();
    await next.maintain();
    const pushed = stub.requests.filter(({ route }) => route === "index").flatMap(({ body }) => body.items);
    expect(pushed.map(({ id }) => id).sort()).toEqual(["mem:1", "mem:2"]);
    expect(next.maintenance.queueStatus().pending).toBe(0);
  });

  it("is found out when the service has lost everything", async () => {
    const { service, store, recall } = await open();
    await store("my automobile is green");
    await vi.waitFor(() => expect(service.maintenance.queueStatus().pending).toBe(0));
    stub.namespaces.clear();
    await recall("car");
    await vi.waitFor(() => expect(held()).toEqual({ "mem:1": "my automobile is green" }));
    await vi.waitFor(() => expect(service.maintenance.queueStatus().pending).toBe(0));
    stub.namespaces.clear();
    const before = routes().filter((route) => route === "index").length;
    await recall("car");
    await recall("vehicle");
    expect(routes().filter((route) => route === "index")).toHaveLength(before);
  });
});

describe("a recall", () => {
  it("ranks by the service's cosine, which keys the row and passes the gate", async () => {
    const { store, recall } = await open();
    await store("my automobile is green");
    await store("tulips need water");
    stub.instead = (route) =>
      route === "search"
        ? {
            results: [
              { id: "mem:2", score: 0.83 },
              { id: "mem:1", score: 0.1 },
              { id: "mem:77", score: 0.9 },
              { id: "other", score: 0.9 },
            ],
          }
        : undefined;
    const { texts, hits, degraded } = await recall("something about flowers");
    expect(texts).toEqual(["tulips need water"]);
    expect(hits[0]?.matchReason?.cosine).toBeCloseTo(0.83);
    expect(degraded).toBeNull();
  });

  verifies("meaning.vector-service", "fills its list from another project's rows on", async () => {
    const { store, recall } = await open();
    for (let i = 0; i < 120; i++) await store(`car word${i}`, { projectId: "other" });
    for (let i = 0; i < 3; i++) await store(`automobile garden${i}`, { projectId: "ours" });
    const { texts, hits } = await recall("car", { projectId: "ours", limit: 10 });
    expect(texts).toHaveLength(3);
    for (const { matchReason } of hits) expect(matchReason?.cosine).toEqual(expect.any(Number));
    const depths = stub.requests.filter(({ route }) => route === "search").map(({ body }) => body.limit);
    expect(depths[0]).toBeGreaterThan(10);
  });

  it("fills its list for a source that few rows have", async () => {
    const { store, recall } = await open();
    for (let i = 0; i < 60; i++) await store(`car word${i}`);
    const source = { type: "User" as const, id: "kei", name: "" };
    await store("automobile garden", { source });
    const { texts } = await recall("car", { sourceId: "kei", limit: 5 });
    expect(texts).toEqual(["automobile garden"]);
  });

  verifies("meaning.vector-service", "falls back on the vectors here, and says so", async () => {
    const { store, recall } = await open();
    await store("my automobile is green");
    await store("tulips need water");
    stub.statusOf.search = 503;
    const { texts, degraded, advisory } = await recall("car");
    expect(texts).toEqual(["my automobile is green"]);
    expect(degraded).toEqual({
      what: "local_vectors",
      reason: "/search: the embedding server answered with HTTP status 503",
    });
    expect(advisory).toMatchObject({ severity: "fault", reason: expect.stringContaining("vector service") });
    stub.statusOf.search = 200;
    expect((await recall("car")).advisory).toBeNull();
  });

  it.each<[string, unknown]>([
    ["is nonsense", { results: [{ id: "mem:1", score: "much" }] }],
    ["is empty of results", {}],
  ])("falls back when the answer %s", async (_, answer) => {
    const { store, recall } = await open();
    await store("my automobile is green");
    stub.instead = (route) => (route === "search" ? answer : undefined);
    const { texts, degraded } = await recall("car");
    expect(texts).toEqual(["my automobile is green"]);
    expect(degraded?.what).toBe("local_vectors");
  });

  it("falls back on words where no vectors are kept here", async () => {
    const { store, recall } = await open({ CPERSONA_STORE_BLOB: "false" });
    await store("my automobile is green");
    stub.status = 500;
    expect((await recall("car")).texts).toEqual([]);
    const { texts, degraded } = await recall("green automobile");
    expect(texts).toEqual(["my automobile is green"]);
    expect(degraded?.what).toBe("words_only");
  });

  it("waits no longer for the service than its setting says", async () => {
    const { store, recall } = await open({ CPERSONA_REMOTE_SEARCH_TIMEOUT_SECS: "0.2" });
    await store("my automobile is green");
    stub.delayMs = 60_000;
    const { texts, degraded } = await recall("green");
    expect(texts).toEqual(["my automobile is green"]);
    expect(degraded?.reason).toContain("200 ms");
  });

  it("ignores window, reach and the far list", async () => {
    const settings = { CPERSONA_MAX_MEMORIES: "2", CPERSONA_VECTOR_REACH: "3" };
    const { store, recall } = await open(settings);
    await store("my automobile is green");
    for (let i = 0; i < 4; i++) await store(`tulips need water ${i}`);
    const { texts, hits } = await recall("car", { limit: 2 });
    expect(texts).toEqual(["my automobile is green"]);
    expect(hits[0]?.matchReason?.signal).toBe("cosine");
    expect(routes().filter((route) => route === "search")).toHaveLength(1);
  });

  it("is completed by the vectors here where the service caps its answers", async () => {
    const { store, recall } = await open();
    await store("automobile garden", { projectId: "ours" });
    for (let i = 0; i < 60; i++) await store(`car word${i}`, { projectId: "other" });
    stub.instead = (route) =>
      route === "search"
        ? { results: Array.from({ length: 20 }, (_, i) => ({ id: `mem:${i + 2}`, score: 0.9 })) }
        : undefined;
    const { texts, degraded } = await recall("car", { projectId: "ours" });
    expect(texts).toEqual(["automobile garden"]);
    expect(degraded).toBeNull();
  });

  it("finds by its meaning what the service does not have yet", async () => {
    const { store, recall } = await open();
    await store("tulips need water");
    stub.statusOf.index = 503;
    await store("my automobile is green");
    expect((await recall("car")).texts).toEqual(["my automobile is green"]);
  });

  it("finds it also where the service has a full list of others", async () => {
    const { store, recall } = await open();
    for (let i = 0; i < 12; i++) await store(`automobile word${i}`);
    stub.statusOf.index = 503;
    await store("automobile");
    expect((await recall("car", { limit: 3 })).texts.at(-1)).toBe("automobile");
  });

  it("gives an agent only its own rows, whatever the service answers", async () => {
    const { store, recall } = await open();
    await store("my automobile is green");
    await store("their automobile is red", { agentId: "agent-b" });
    stub.instead = (route) =>
      route === "search" ? { results: ["mem:2", "mem:1"].map((id) => ({ id, score: 0.9 })) } : undefined;
    expect((await recall("vehicle")).texts).toEqual(["my automobile is green"]);
  });

  it("tells its reader once in full and then in short", async () => {
    const tools = await startInProcess({ settings: remote() });
    await tools.call("store", { agent_id: A, content: "my automobile is green" });
    stub.statusOf.search = 500;
    const ask = async (session?: string) =>
      (await tools.call("recall", { agent_id: A, query: "car", session_key: session }))["advisory"];
    expect(await ask("s1")).toMatchObject({
      degraded: true,
      severity: "fault",
      advisory_scope: "session",
      evidence: expect.stringContaining("500"),
      runbook: expect.any(String),
    });
    expect(Object.keys(await ask("s1"))).toEqual(["degraded", "severity", "reason", "advisory_scope"]);
    expect(await ask("s2")).toHaveProperty("runbook");
    expect(await ask()).toMatchObject({ runbook: expect.any(String), advisory_scope: "process" });
    expect(await ask()).not.toHaveProperty("runbook");
  });
});

describe("CPERSONA_VECTOR_SEARCH_MODE remote", () => {
  it.each([
    ["without an http embedder", { CPERSONA_EMBEDDING_MODE: "static" }, "CPERSONA_EMBEDDING_MODE http"],
    [
      "without a path that ends in /embed",
      {
        CPERSONA_EMBEDDING_MODE: "http",
        CPERSONA_EMBEDDING_URL: "http://localhost:1/v1/embeddings?key=s3cret",
      },
      "a CPERSONA_EMBEDDING_URL whose path ends in /embed",
    ],
  ])("is local %s, and says so in one line", (_, settings, needs) => {
    const config = readConfig({
      ...settings,
      CPERSONA_VECTOR_SEARCH_MODE: "remote",
      CPERSONA_STORE_BLOB: "false",
    });
    expect(config.remote).toMatchObject({ mode: "local", storesVectors: true });
    expect(config.warnings).toEqual([`CPERSONA_VECTOR_SEARCH_MODE remote needs ${needs}; local is used`]);
  });
});

function databasePath({ config }: { config: { database: { path: string } } }): string {
  return config.database.path;
}
