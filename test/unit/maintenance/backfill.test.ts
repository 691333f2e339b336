import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Backfill, type BackfillParts } from "../../../ts/maintenance/backfill.js";
import { Lease } from "../../../ts/store/lease.js";
import { chunksOf } from "../../../ts/text/chunks.js";
import { verifies } from "../../contract/verifies.js";
import { anEmbedding } from "../../support/builders.js";
import { startEmbedStub } from "../../support/embed-stub.js";
import { openTestMemory } from "../../support/memory.js";
import { openStore, sql } from "../../support/store.js";
import { tempFolder } from "../../support/temp.js";

const STATIC = { CPERSONA_EMBEDDING_MODE: "static" };

describe("missing vectors", () => {
  it("are filled in when an embedder is there, newest first", async () => {
    const without = await openTestMemory();
    for (let i = 0; i < 150; i++)
      await without.service.store({ agentId: "agent-a", content: `note number ${i}` });
    await without.service.archiveEpisode({ agentId: "agent-a", summary: "we shipped it" });
    await without.service.close();
    const { service } = await openTestMemory({ path: without.path, settings: STATIC });
    expect(service.maintenance.queueStatus()).toMatchObject({ enabled: true, pending: 151 });
    const seen: number[] = [];
    expect(await service.maintenance.fillVectors((done) => seen.push(done))).toMatchObject({
      embedded: 151,
      end: "done",
    });
    expect(seen.at(-1)).toBe(151);
    expect(service.maintenance.queueStatus().pending).toBe(0);
    expect(sql(without.path, "SELECT name FROM settings WHERE name LIKE 'lease:%'")).toEqual([]);
  });

  it("of texts without anything to embed are asked for once", async () => {
    const without = await openTestMemory();
    await without.service.store({ agentId: "agent-a", content: "ภาษาไทย" });
    await without.service.close();
    const { service } = await openTestMemory({ path: without.path, settings: STATIC });
    expect(await service.maintenance.fillVectors()).toMatchObject({ embedded: 0, blank: 1, end: "done" });
    expect(service.maintenance.queueStatus().pending).toBe(0);
    expect((await service.maintenance.checkHealth({ agentId: "", fix: false, checks: [] })).status).toBe(
      "healthy",
    );
    await service.updateMemory(1, "now in words", { agentId: "agent-a" });
    expect((await service.recall({ agentId: "agent-a", query: "words" })).hits).toHaveLength(1);
  });

  it("are found beside stretches of ids that nothing has", async () => {
    const without = await openTestMemory();
    for (const content of ["first", "second", "third"]) {
      await without.service.store({ agentId: "agent-a", content });
      sql(without.path, "UPDATE sqlite_sequence SET seq = seq + 20000 WHERE name = 'memories'");
    }
    await without.service.close();
    const { service } = await openTestMemory({ path: without.path, settings: STATIC });
    expect(await service.maintenance.fillVectors()).toMatchObject({ embedded: 3, end: "done" });
    expect(service.maintenance.queueStatus().pending).toBe(0);
  });

  it("that an import brings during a run are made right behind it", async () => {
    const without = await openTestMemory();
    const store = (content: string) => without.service.store({ agentId: "agent-a", content });
    await store("first");
    await store("second");
    const file = join(tempFolder(), "export.jsonl");
    const options = { agentId: "agent-a", outputPath: file, embeddings: false, unconfined: true };
    await without.service.maintenance.exportMemories(options);
    await without.service.close();
    const stub = await startEmbedStub();
    onTestFinished(() => stub.close());
    const settings = { CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: stub.url };
    const { service } = await openTestMemory({ path: without.path, settings });
    await service.recall({ agentId: "agent-a", query: "first" });
    let release = (): void => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    stub.held = { route: "embed", until };
    const filling = service.maintenance.fillVectors();
    await service.maintenance.importMemories({
      inputPath: file,
      targetAgent: "agent-b",
      dryRun: false,
      unconfined: true,
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    stub.held = null;
    release();
    expect(await filling).toMatchObject({ embedded: 2 });
    await vi.waitFor(() => expect(service.maintenance.queueStatus().pending).toBe(0), { timeout: 10_000 });
  });

  it("are filled in by themselves when the service maintains itself", async () => {
    const without = await openTestMemory();
    await without.service.store({ agentId: "agent-a", content: "the staging host is gamma" });
    await without.service.close();
    const { service } = await openTestMemory({ path: without.path, settings: STATIC });
    await service.maintain();
    expect(service.maintenance.queueStatus().pending).toBe(0);
    const { stats } = await service.maintenance.checkHealth({ agentId: "", fix: false, checks: [] });
    expect(stats.self).toMatchObject({ runs: 1, vectorsFilled: 1, lastBackfill: "done" });
  });
});

/** Ten memories; texts that hold "bad" cannot be embedded. */
function parts(more: Partial<BackfillParts> = {}) {
  const filled: number[] = [];
  const batches: number[] = [];
  const given: BackfillParts = {
    embedder: { state: () => ({ status: "ready" }) },
    embedderCode: () => 1,
    embedTexts: async (texts) => {
      batches.push(texts.length);
      if (texts.some((text) => text.includes("bad"))) throw new Error("refused");
      return texts.map(() => anEmbedding([1, 0, 0]));
    },
    // A step looks at four records.
    idsWithoutVector: (kind, _, before, limit) => {
      if (kind === "ep") return { ids: [], next: null };
      const high = before ?? 11;
      const low = Math.max(1, high - 4);
      const ids = Array.from({ length: high - low }, (_, i) => high - 1 - i)
        .filter((id) => !filled.includes(id * 2))
        .slice(0, limit);
      return { ids, next: low > 1 ? low : null };
    },
    waitingKeys: () => [],
    countWithoutVector: () => ({ memories: 10 - filled.length, episodes: 0, waiting: 0 }),
    texts: (keys) => new Map(keys.map((key) => [key, key === 8 ? "bad" : `text ${key}`])),
    putVectors: async (_, rows) => void filled.push(...rows.map(({ key }) => key)),
    lease: async () => true,
    release: async () => {},
    changed: () => {},
    maxRetries: 2,
    ...more,
  };
  return { backfill: new Backfill(given), filled, batches };
}

describe("filling in", () => {
  it("halves a batch until the text at fault stands alone, and gives that up after its attempts", async () => {
    const { backfill, filled, batches } = parts();
    expect(await backfill.run()).toMatchObject({ embedded: 9, failed: 1, end: "done" });
    expect(filled.sort((a, b) => a - b)).toEqual([2, 4, 6, 10, 12, 14, 16, 18, 20]);
    expect(Math.max(...batches)).toBe(4);
    await backfill.run();
    const before = batches.length;
    await backfill.run();
    expect(batches.length).toBe(before);
  });

  it("stops when the backend makes nothing at all", async () => {
    const { backfill, batches } = parts({ texts: (keys) => new Map(keys.map((key) => [key, "bad"])) });
    expect(await backfill.run()).toMatchObject({ embedded: 0, end: "stopped" });
    expect(batches.length).toBeLessThan(25);
  });

  it("of whole records waits for a run of stretches alone, and is not taken for it", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stretches = [2];
    const { backfill, filled } = parts({
      waitingKeys: () => stretches.splice(0),
      embedTexts: async (texts) => {
        await held;
        return texts.map(() => anEmbedding([1, 0, 0]));
      },
    });
    const waiting = backfill.runWaiting();
    await new Promise(setImmediate);
    const whole = backfill.run();
    expect(backfill.isFilling).toBe(false);
    release();
    expect(await waiting).toMatchObject({ embedded: 1, end: "done" });
    expect(await whole).toMatchObject({ embedded: 9, end: "done" });
    expect(new Set(filled).size).toBe(10);
    expect(await backfill.hasGaps()).toBe(false);
  });

  it("leaves it to another process that has the lease", async () => {
    const { backfill, filled } = parts({ lease: async () => false });
    expect(await backfill.run()).toMatchObject({ end: "busy" });
    expect(filled).toEqual([]);
  });
});

describe("a lease", () => {
  it("belongs to one, until it is given back or runs out", async () => {
    const store = openStore();
    let now = 0;
    const lease = () => new Lease(store.database, store.settings, "work", () => now);
    const [first, second] = [lease(), lease()];
    expect(await first.take(1000)).toBe(true);
    expect(await second.take(1000)).toBe(false);
    expect(await first.take(1000)).toBe(true);
    await second.release();
    expect(await second.take(1000)).toBe(false);
    now = 1001;
    expect(await second.take(1000)).toBe(true);
    await first.release();
    expect(await first.take(1000)).toBe(false);
    await second.release();
    expect(await first.take(1000)).toBe(true);
  });

  it("is prolonged while its process works, and runs out when that is killed", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const store = openStore();
    let now = 0;
    const lease = () => new Lease(store.database, store.settings, "work", () => now);
    const [first, second] = [lease(), lease()];
    expect(await first.take(15_000)).toBe(true);
    for (; now < 60_000; now += 5000) await vi.advanceTimersByTimeAsync(5000);
    expect(await second.take(15_000)).toBe(false);
    // A killed process prolongs nothing.
    vi.clearAllTimers();
    now += 9000;
    expect(await second.take(15_000)).toBe(false);
    now += 6000;
    expect(await second.take(15_000)).toBe(true);
  });
});

describe("stretches that a write leaves behind", () => {
  const report = `${"The quarterly report goes on about many things that nobody asks for. ".repeat(60)}The feline sleeps upstairs.`;

  /** A server that needs longer than a write may wait, so that a write makes one request. */
  async function slowServer() {
    const stub = await startEmbedStub();
    onTestFinished(() => stub.close());
    const settings = {
      CPERSONA_EMBEDDING_MODE: "http",
      CPERSONA_EMBEDDING_URL: stub.url,
      CPERSONA_EMBEDDING_WRITE_BUDGET_MS: "0",
    };
    return { stub, settings };
  }

  verifies("store.blocks-behind-a-slow-embedder", async () => {
    const { stub, settings } = await slowServer();
    const { service, path } = await openTestMemory({ settings });
    const outcome = await service.store({ agentId: "agent-a", content: report });
    expect(outcome).toMatchObject({ result: "stored", embedded: true });
    expect(stub.asked).toHaveLength(4);
    expect(service.maintenance.queueStatus().pending).toBe(1);
    await vi.waitFor(() => expect(service.maintenance.queueStatus().pending).toBe(0), { timeout: 10_000 });
    const blocks = chunksOf(report);
    expect(sql(path, "SELECT start_char AS start, end_char AS end FROM embeddings ORDER BY block")).toEqual(
      blocks,
    );
    const { hits } = await service.recall({ agentId: "agent-a", query: "where is the cat" });
    expect(hits).toHaveLength(1);
  });

  it("are taken up by the next process when this one ends", async () => {
    const { settings } = await slowServer();
    const first = await openTestMemory({ settings });
    await first.service.store({ agentId: "agent-a", content: report });
    await first.service.archiveEpisode({ agentId: "agent-a", summary: report });
    await first.service.close();
    const { service } = await openTestMemory({ path: first.path, settings });
    await service.recall({ agentId: "agent-a", query: "report" });
    expect(service.maintenance.queueStatus().pending).toBe(2);
    const { issues } = await service.maintenance.checkHealth({ agentId: "", fix: false, checks: [] });
    expect(issues.map(({ check }) => check)).toEqual(["missing_profile"]);
    expect(await service.maintenance.fillVectors()).toMatchObject({ embedded: 2, end: "done" });
    expect(service.maintenance.queueStatus().pending).toBe(0);
  });

  it("do not travel as if they were all: the vectors of such a record are made where it goes", async () => {
    const { settings } = await slowServer();
    const { service } = await openTestMemory({ settings });
    await service.store({ agentId: "agent-a", content: report });
    await service.maintenance.mergeMemories({
      sourceAgent: "agent-a",
      targetAgent: "agent-b",
      mode: "move",
      dryRun: false,
    });
    expect(await service.maintenance.fillVectors()).toMatchObject({ end: "done" });
    expect(service.maintenance.queueStatus().pending).toBe(0);
  });
});
