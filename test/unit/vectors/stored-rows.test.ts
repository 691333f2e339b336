import { expect, it, onTestFinished, vi } from "vitest";
import type { VectorRows } from "../../../ts/native/contract.js";
import { openCore } from "../../../ts/native/core.js";
import { StoredRows } from "../../../ts/vectors/stored-rows.js";
import type { VectorQuery, VectorSource } from "../../../ts/vectors/vector-source.js";

const ASK: VectorQuery = {
  query: Float32Array.of(1, 0),
  scopes: null,
  near: null,
  far: null,
  nearLimit: 5,
  farLimit: 0,
  floor: -1,
  only: null,
  method: "exact",
};

/** Rows in memory with a log of changes, as SQLite has them. */
function aSource() {
  const angles = new Map<number, number>();
  const changes: number[] = [];
  const state = { reads: 0, first: 1 };
  const rows = (keys: readonly number[]): VectorRows => ({
    keys: Float64Array.from(keys),
    blocks: new Uint32Array(keys.length),
    scopes: new Uint32Array(keys.length).fill(1),
    times: Float64Array.from(keys),
    vectors: Float32Array.from(
      keys.flatMap((key) => [Math.cos(angles.get(key) ?? 0), Math.sin(angles.get(key) ?? 0)]),
    ),
  });
  const source: VectorSource = {
    lastSequence: () => changes.length,
    firstSequence: () => state.first,
    shortenLog: async () => false,
    changedAfter: (after, until) =>
      Float64Array.from(new Set(changes.slice(after, until))).sort((a, b) => a - b),
    rowsOf: (keys) => rows(Array.from(keys).filter((key) => angles.has(key))),
    rowsAfter: () => ({ rows: rows([]), next: null }),
    rowsBefore: (before, limit) => {
      state.reads++;
      const page: number[] = [];
      for (let key = (before ?? 20_000) - 1; key > 0 && page.length < limit; key--)
        if (angles.has(key)) page.push(key);
      return { rows: rows(page), next: page.length < limit ? null : (page.at(-1) ?? null) };
    },
  };
  const put = (key: number, angle: number): void => {
    angles.set(key, angle);
    changes.push(key);
  };
  const remove = (key: number): void => {
    angles.delete(key);
    changes.push(key);
  };
  return { source, put, remove, state };
}

function aSearch() {
  const store = aSource();
  const { core } = openCore({ mode: "off" });
  const scorer = core.openVectorIndex({
    folder: null,
    dimension: 2,
    identity: new Uint8Array(16),
  });
  const stored = new StoredRows(store.source, scorer);
  onTestFinished(() => stored.close());
  return {
    ...store,
    stored,
    found: async (ask: Partial<VectorQuery> = {}) =>
      Array.from((await stored.search({ ...ASK, ...ask })).keys),
  };
}

it("waits for the newest rows only, says so, and finds older ones when they are read", async () => {
  const { put, found, state, stored } = aSearch();
  for (let key = 1; key <= 10_000; key++) put(key, 0.3 + key / 10_000);
  const [first] = await found();
  expect((await stored.search(ASK)).isPartial).toBe(true);
  expect(first).toBeGreaterThan(1);
  expect(first).toBeLessThanOrEqual(8001);
  expect(state.reads).toBeLessThan(20);
  await vi.waitFor(async () => expect(await found()).toEqual([1, 2, 3, 4, 5]), 20_000);
  const { reads } = state;
  expect((await stored.search(ASK)).isPartial).toBe(false);
  expect(state.reads).toBe(reads);
});

it("misses no change that is made while it reads or afterwards", async () => {
  const { put, remove, found } = aSearch();
  for (let key = 1; key <= 5000; key++) put(key, 0.5 + key / 10_000);
  await found();
  put(5001, 0.1);
  put(1, 0.2);
  remove(5000);
  expect((await found()).slice(0, 2)).toEqual([5001, 1]);
  await vi.waitFor(async () => expect(await found()).toEqual([5001, 1, 2, 3, 4]), 20_000);
  remove(5001);
  put(2, 1.5);
  expect(await found()).toEqual([1, 3, 4, 5, 6]);
  expect(await found({ masked: Float64Array.of(3, 4) })).toEqual([1, 5, 6, 7, 8]);
});

it("reads anew in the background when much has changed, and at once when the log was shortened", async () => {
  const { put, found, state } = aSearch();
  for (let key = 1; key <= 1000; key++) put(key, 0.5 + key / 10_000);
  await found();
  const { reads } = state;
  for (let key = 1; key <= 600; key++) put(key, 1);
  await vi.waitFor(async () => {
    expect(await found()).toEqual([601, 602, 603, 604, 605]);
    expect(state.reads).toBeGreaterThan(reads + 4);
  }, 20_000);
  for (let key = 601; key <= 610; key++) put(key, 1.2);
  state.first = 1605;
  expect(await found()).toEqual([611, 612, 613, 614, 615]);
});

it("begins again after a read that failed", async () => {
  const { put, found, source } = aSearch();
  put(1, 0.1);
  const read = vi.spyOn(source, "rowsBefore").mockImplementationOnce(() => {
    throw new Error("the disk is gone");
  });
  await expect(found()).rejects.toThrow("the disk is gone");
  expect(await found()).toEqual([1]);
  expect(read).toHaveBeenCalledTimes(2);
});
