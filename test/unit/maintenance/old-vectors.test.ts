import { existsSync, readdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeClock } from "../../support/clock.js";
import { type EmbedStub, startEmbedStub } from "../../support/embed-stub.js";
import { openTestMemory } from "../../support/memory.js";
import { sql } from "../../support/store.js";

let stub: EmbedStub;
beforeEach(async () => {
  stub = await startEmbedStub();
});
afterEach(() => stub.close());

const DAY_MS = 86_400_000;
const ROWS = 600;

/** Works with a model as a server does, and closes. */
async function use(model: string, clock: ReturnType<typeof fakeClock>, path?: string): Promise<string> {
  stub.model = model;
  const settings = { CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: stub.url };
  const memory = await openTestMemory({ settings, clock, ...(path === undefined ? {} : { path }) });
  if (path === undefined)
    for (let i = 0; i < ROWS; i++) await memory.service.store({ agentId: "a", content: `word${i}` });
  await memory.service.maintain();
  await memory.service.close();
  return memory.path;
}

function models(path: string): Record<string, number> {
  const rows = sql(
    path,
    "SELECT identity, count(*) AS n FROM embeddings JOIN embedders ON code = embedder GROUP BY code",
  );
  return Object.fromEntries(rows.map((row) => [String(row["identity"]).split(":")[1], Number(row["n"])]));
}

describe("vectors of embedders that are not used any more", () => {
  it("stay for the one before, so that going back and forth embeds nothing", async () => {
    const clock = fakeClock();
    const path = await use("a", clock);
    clock.advance(3 * DAY_MS);
    await use("b", clock, path);
    stub.asked.length = 0;
    for (const model of ["a", "b", "a"]) {
      clock.advance(3 * DAY_MS);
      await use(model, clock, path);
      expect(models(path)).toEqual({ a: ROWS, b: ROWS });
    }
    expect(stub.asked.filter((text) => /^word\d+$/.test(text))).toEqual([]);
  });

  it("go with their index files when two others came after them", async () => {
    const clock = fakeClock();
    const path = await use("a", clock);
    clock.advance(3 * DAY_MS);
    await use("b", clock, path);
    clock.advance(3 * DAY_MS);
    await use("a", clock, path);
    clock.advance(3 * DAY_MS);
    const folders = (): number => (existsSync(`${path}.vectors`) ? readdirSync(`${path}.vectors`).length : 0);
    const before = folders();
    await use("c", clock, path);
    expect(models(path)).toEqual({ a: ROWS, c: ROWS });
    expect(folders()).toBeLessThanOrEqual(before);
    expect(sql(path, "SELECT count(*) AS n FROM settings WHERE name LIKE 'embedder_used:%'")).toEqual([
      { n: 2 },
    ]);
  });

  it("stay while they were in use within a day: another server may use them now", async () => {
    const clock = fakeClock();
    const path = await use("a", clock);
    await use("b", clock, path);
    await use("c", clock, path);
    expect(models(path)).toEqual({ a: ROWS, b: ROWS, c: ROWS });
  });

  it("stay for each record that has no successor", async () => {
    const clock = fakeClock();
    const path = await use("a", clock);
    clock.advance(3 * DAY_MS);
    await use("b", clock, path);
    clock.advance(3 * DAY_MS);
    stub.refuses = "word7";
    await use("c", clock, path);
    const { a, b, c } = models(path);
    expect(b).toBe(ROWS);
    expect(a).toBeGreaterThan(10);
    expect(a).toBe(ROWS - (c as number));
  });
});
