import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { readDrafts } from "../../../ts/intake/detect.js";
import type { Draft } from "../../../ts/intake/draft.js";
import type { Calibration } from "../../../ts/maintenance/calibrate.js";
import { CalibrationStore } from "../../../ts/maintenance/calibration.js";
import { openMemory } from "../../../ts/open-memory.js";
import type { MemoryService } from "../../../ts/service/memory-service.js";
import { startEmbedStub } from "../../support/embed-stub.js";
import { openTestMemory } from "../../support/memory.js";
import { ROOT } from "../../support/root.js";
import { testSettings } from "../../support/settings.js";
import { sql } from "../../support/store.js";
import { tempFolder } from "../../support/temp.js";

const STATIC = { CPERSONA_EMBEDDING_MODE: "static", CPERSONA_CALIBRATE_ON_MODEL_CHANGE: "false" };
const drafts: Draft[] = [];

beforeAll(async () => {
  for await (const item of readDrafts([join(ROOT, "examples", "notes")])) {
    if ("draft" in item) drafts.push(item.draft);
  }
});

async function notes(more: Record<string, string> = {}): Promise<MemoryService> {
  const databasePath = join(tempFolder(), "memory.db");
  const environment = testSettings(databasePath, { ...STATIC, ...more });
  const memory = await openMemory({ databasePath, environment, clock: { now: () => Date.UTC(2026, 11, 1) } });
  onTestFinished(() => memory.close());
  for (const { content, timestamp } of drafts) await memory.store({ content, timestamp });
  return memory;
}

describe("calibration on notes in two languages", () => {
  it("gives the same levels twice", async () => {
    const memory = await notes();
    const first = await memory.calibration.calibrate("default");
    const second = await memory.calibration.calibrate("default");
    expect(second.calibration).toEqual(first.calibration);
    expect(first.calibration.threshold).toBeGreaterThan(first.calibration.unrelated);
    expect(first.calibration.confidence).toBeNull();
  });

  it("is stricter with a larger beta", async () => {
    const memory = await notes();
    const thresholds = [];
    for (const beta of [0.5, 1, 2]) {
      thresholds.push((await memory.calibration.calibrate("default", { beta })).calibration.threshold);
    }
    expect([...thresholds].sort((a, b) => a - b)).toEqual(thresholds);
  });

  it("learns a level of confidence where confidence gates, and keeps what was asked for", async () => {
    const memory = await notes({ CPERSONA_CONFIDENCE_ENABLED: "true" });
    const { calibration } = await memory.calibration.calibrate("default");
    expect(calibration.confidence).toBeGreaterThan(0);
    expect(calibration.confidence).toBeLessThan(1);
    const { hits } = await memory.recall({ query: "why were customers charged twice", limit: 10 });
    const texts = hits.map(({ row }) => (row.kind === "mem" ? row.memory.content : ""));
    expect(texts.some((text) => text.includes("ASA-187"))).toBe(true);
  });
});

describe("a calibration", () => {
  it("is made in a process that has not yet heard from its embedding server", async () => {
    const stub = await startEmbedStub();
    onTestFinished(() => stub.close());
    const http = { CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: stub.url };
    const first = await openTestMemory({ settings: { ...STATIC, ...http } });
    for (const { content, timestamp } of drafts) await first.service.store({ content, timestamp });
    await first.service.close();
    const { service } = await openTestMemory({ path: first.path, settings: { ...STATIC, ...http } });
    expect((await service.calibration.calibrate("default")).calibration.sampled).toBeGreaterThan(30);
  });

  it("of less than half the rows counts no more, unless somebody calibrates by hand", async () => {
    const calibrations = aStore();
    await calibrations.put("a", {
      unrelated: 0.8,
      threshold: 0.9,
      confidence: null,
      rows: 40,
    } as Calibration);
    expect(calibrations.levels("a", 1, 79)).toMatchObject({ unrelated: 0.8, cosine: 0.9 });
    expect(calibrations.levels("a", 1, 80)).toMatchObject({ unrelated: null, cosine: null, beta: 1 });
    expect(calibrations.levels("a", 1)).toMatchObject({ unrelated: 0.8, cosine: 0.9 });
  });

  it("that failed is tried again when the rows have doubled, in other processes too", async () => {
    const calibrations = aStore();
    expect(calibrations.isDue("a", 40)).toBe(true);
    await calibrations.putFailure("a", 40);
    expect([calibrations.isDue("a", 79), calibrations.isDue("a", 80)]).toEqual([false, true]);
    await calibrations.remove("a");
    expect(calibrations.isDue("a", 40)).toBe(true);
    // Rows that all hold the same words have no unrelated ones among them.
    const { service, path } = await openTestMemory({ settings: STATIC });
    for (let i = 1; i <= 40; i++) await service.store({ content: `umbrella in the hall${"!".repeat(i)}` });
    await service.calibration.calibrateDue();
    const rows = sql(path, "SELECT value FROM settings WHERE name LIKE 'calibration-failed:%'");
    expect(rows).toEqual([{ value: "40" }, { value: "40" }]);
  });
});

function aStore(): CalibrationStore {
  const kept = new Map<string, string>();
  return new CalibrationStore(
    {
      get: (name) => kept.get(name) ?? null,
      put: async (name, value) => void kept.set(name, value),
      remove: async (name) => void kept.delete(name),
    },
    () => "model",
  );
}
