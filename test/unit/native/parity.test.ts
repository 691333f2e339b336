// The addon and the reference implementation side by side, on what lies at the edge of the contract: both give the
// same answer, or refuse with the same code, field and words.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type {
  NativeCore,
  RankedLists,
  VectorIndex,
  VectorRows,
  VectorSearchRequest,
} from "../../../ts/native/contract.js";
import { differingLimits, LIMITS } from "../../../ts/native/limits.js";
import { twinCore } from "../../../ts/native/twin/core.js";
import { nativeAbsence, theAddon } from "../../support/native.js";

const DIMENSION = 2;
const IDENTITY = new Uint8Array(LIMITS.identityBytes);

/** What a call comes to: its value in plain form, or how it refuses. */
function outcome(call: () => unknown): unknown {
  try {
    return { value: plain(call()) };
  } catch (error) {
    const { code, field, message } = error as { code: string; field?: string; message: string };
    return { code, field, message };
  }
}

function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return [...(value as Float64Array)];
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}

function isRefusal(found: unknown): boolean {
  return typeof found === "object" && found !== null && "code" in found;
}

/** Four rows of unit vectors, two of them the same record, with changes. */
function rows(changes: Partial<VectorRows> = {}): VectorRows {
  return {
    keys: Float64Array.of(2, 4, 4, 5),
    blocks: Uint32Array.of(0, 0, 1, 0),
    scopes: Uint32Array.of(0, 1, 1, 0),
    times: Float64Array.of(1, 2, 2, 3),
    vectors: Float32Array.of(1, 0, 0, 1, -1, 0, 0, -1),
    ...changes,
  };
}

function ask(changes: Partial<VectorSearchRequest> = {}): VectorSearchRequest {
  return {
    ...{ query: Float32Array.of(1, 0), scopes: null, near: null, far: null, nearLimit: 10, farLimit: 10 },
    ...{ floor: -1, masked: null, only: null, extra: null, method: "exact" },
    ...changes,
  };
}

const EDGES = [
  ...[0, -0, 1, -1, 0.5, 2, 4, 255, 256, 257, 16_384, 16_385, 65_535, 2 ** 31, 2 ** 32 - 1, 2 ** 32],
  ...[2 ** 53 - 1, 2 ** 53, Number.MAX_VALUE, Number.MIN_VALUE],
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
];
const edge = fc.constantFrom(...EDGES);
const pick = <T>(usual: T, edges: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: edges });
const float64s = (maxLength: number) => fc.array(edge, { maxLength }).map((all) => Float64Array.from(all));
const float32s = (maxLength: number) =>
  fc
    .array(fc.constantFrom(0, -0, 1, -1, 0.5, Number.NaN, Infinity, -Infinity), { maxLength })
    .map((all) => Float32Array.from(all));
const codes = fc
  .array(fc.constantFrom(0, 1, 1, 2 ** 32 - 1), { maxLength: 5 })
  .map((all) => Uint32Array.from(all));
const cut = pick<Float64Array | null>(
  null,
  fc.array(edge, { minLength: 3, maxLength: 5 }).map((all) => Float64Array.from(all)),
);
const keyList = pick<Float64Array | null>(
  null,
  float64s(4).map((all) => all.sort()),
);

const anyRows: fc.Arbitrary<VectorRows> = fc
  .record({
    keys: pick(
      rows().keys,
      fc.oneof(
        float64s(5),
        fc.array(edge, { minLength: 4, maxLength: 4 }).map((all) => Float64Array.from(all)),
      ),
    ),
    blocks: pick(rows().blocks, codes),
    scopes: pick(rows().scopes, codes),
    times: pick(
      rows().times,
      fc.array(edge, { minLength: 4, maxLength: 4 }).map((all) => Float64Array.from(all)),
    ),
    vectors: pick(rows().vectors, float32s(9)),
  })
  .map((changes) => rows(changes));
const requests: fc.Arbitrary<VectorSearchRequest> = fc.record({
  query: pick(ask().query, float32s(3)),
  scopes: pick<Uint32Array | null>(null, codes),
  near: cut,
  far: cut,
  nearLimit: pick(10, edge),
  farLimit: pick(10, edge),
  floor: pick(-1, edge),
  masked: keyList,
  only: keyList,
  extra: pick<VectorRows | null>(null, anyRows),
  method: pick<VectorSearchRequest["method"]>(
    "exact",
    fc.constantFrom("auto", "" as never, "Exact" as never),
  ),
  threads: pick(1, edge),
});

describe.skipIf(nativeAbsence !== "")(`the addon and the reference${nativeAbsence}`, () => {
  let folder: string;
  let pair: readonly [VectorIndex, VectorIndex];

  const cores = (): readonly [NativeCore, NativeCore] => [theAddon().core, twinCore];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "parity-"));
    const open = (core: NativeCore) =>
      core.openVectorIndex({ folder: join(folder, core.kind), dimension: DIMENSION, identity: IDENTITY });
    const [native, reference] = cores();
    pair = [open(native), open(reference)];
    for (const index of pair) index.lock();
  });

  afterEach(() => {
    for (const index of pair) index.close();
    rmSync(folder, { recursive: true });
  });

  /** Asks both, expects the same, and returns it. */
  function both(call: (index: VectorIndex) => unknown, what = ""): unknown {
    const [native, reference] = pair;
    const found = outcome(() => call(native));
    expect(found, what).toEqual(outcome(() => call(reference)));
    return found;
  }

  function fill(content: VectorRows = rows()): void {
    for (const index of pair) {
      index.reset();
      index.append(content);
      index.publish(1);
    }
  }

  it("hold one table of limits", () => {
    expect(differingLimits(theAddon().binding.limits?.())).toEqual([]);
    expect(differingLimits({ ...LIMITS, maxList: 1 })).toEqual(["maxList"]);
  });

  it("open an index of every dimension up to the largest, and no other", () => {
    const [native, reference] = cores();
    const options = (dimension: number) => ({ folder: join(folder, "other"), dimension, identity: IDENTITY });
    const open = (core: NativeCore, dimension: number) =>
      outcome(() => {
        const index = core.openVectorIndex(options(dimension));
        index.close();
        return index.dimension;
      });
    for (const dimension of EDGES) {
      const found = open(native, dimension);
      expect(found, `${dimension}`).toEqual(open(reference, dimension));
      const isWhole = Number.isInteger(dimension) && dimension >= 1 && dimension <= LIMITS.maxDimension;
      expect(isRefusal(found), `${dimension}`).toBe(!isWhole);
      if (!isWhole) expect(found).toMatchObject({ code: "invalid_argument", field: "dimension" });
    }
    for (const length of [0, 15, 16, 17]) {
      const identity = new Uint8Array(length);
      const found = cores().map((core) =>
        outcome(() => core.openVectorIndex({ ...options(DIMENSION), identity }).close()),
      );
      expect(found[0]).toEqual(found[1]);
      expect(isRefusal(found[0])).toBe(length !== 16);
    }
  });

  it("hold rows of the largest dimension", () => {
    const dimension = LIMITS.maxDimension;
    const vectors = new Float32Array(2 * dimension);
    vectors[dimension - 1] = 1;
    vectors[dimension] = 1;
    const query = vectors.slice(0, dimension);
    const found = cores().map((core) => {
      const index = core.openVectorIndex({ folder: join(folder, "wide"), dimension, identity: IDENTITY });
      index.lock();
      const two = { keys: Float64Array.of(2, 4), blocks: new Uint32Array(2), scopes: new Uint32Array(2) };
      index.append({ ...two, times: Float64Array.of(1, 2), vectors });
      index.publish(1);
      const answers = (["exact", "int8", "bits"] as const).map((method) =>
        plain(index.search(ask({ query, method }))),
      );
      index.close();
      return answers;
    });
    expect(found[0]).toEqual(found[1]);
    expect(found[0]?.[0]).toMatchObject({ keys: [2, 4], scores: [1, 0] });
  });

  it("refuse times that are not finite, in rows to keep and in rows of a search", () => {
    fill();
    for (const time of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const odd = rows({ times: Float64Array.of(1, 2, time, 3) });
      expect(both((index) => index.append(odd))).toMatchObject({
        ...{ code: "invalid_argument", field: "rows.times", message: "rows.times must be finite" },
      });
      expect(both((index) => index.search(ask({ extra: odd })))).toMatchObject({ field: "extra.times" });
    }
    const far = rows({ times: Float64Array.of(Number.MAX_VALUE, -Number.MAX_VALUE, -0, Number.MIN_VALUE) });
    fill(far);
    expect(both((index) => index.search(ask()))).toHaveProperty("value.keys", [2, 5, 4]);
  });

  it("answer alike on duplicates, empty input and a key of -0", () => {
    const twice = (list: Float64Array) => Float64Array.of(...list, ...list);
    const { keys, blocks, scopes, times, vectors } = rows();
    fill({
      ...{ keys: twice(keys), blocks: Uint32Array.of(...blocks, ...blocks), times: twice(times) },
      ...{ scopes: Uint32Array.of(...scopes, ...scopes), vectors: Float32Array.of(...vectors, ...vectors) },
    });
    expect(both((index) => index.search(ask()))).toHaveProperty("value.keys", [2, 5, 4]);
    expect(both((index) => index.remove(Float64Array.of(4, 4)))).toEqual({ value: 4 });
    expect(both((index) => index.remove(new Float64Array()))).toEqual({ value: 0 });
    const empty = new Float64Array();
    for (const changes of [{ only: empty }, { scopes: new Uint32Array() }, { nearLimit: 0 }])
      expect(both((index) => index.search(ask(changes)))).toHaveProperty("value.keys", []);
    expect(both((index) => index.search(ask({ masked: empty })))).toHaveProperty("value.keys", [2, 5]);
    const none = rows({
      ...{ keys: empty, times: empty, blocks: new Uint32Array(), scopes: new Uint32Array() },
      vectors: new Float32Array(),
    });
    both((index) => index.append(none));
    both((index) => index.search(ask({ extra: none })));
    fill(rows({ keys: Float64Array.of(-0, 2, 4, 5) }));
    expect(both((index) => index.search(ask({ nearLimit: 1 })))).toHaveProperty("value.keys", [0]);
  });

  it("refuse in the same order: the argument, then the closed index, then the lock", () => {
    const bad = rows({ keys: Float64Array.of(-1, 2, 4, 5) });
    const calls: ((index: VectorIndex) => unknown)[] = [
      (index) => index.append(bad),
      (index) => index.append(rows()),
      (index) => index.remove(Float64Array.of(0.5)),
      (index) => index.remove(Float64Array.of(2)),
      (index) => index.publish(Number.NaN),
      (index) => index.publish(2),
      (index) => index.search(ask({ floor: Number.NaN })),
      (index) => index.search(ask()),
      (index) => index.reset(),
      (index) => index.info().rows,
    ];
    const refusals = () => calls.map((call, i) => both(call, `call ${i}`)).filter(isRefusal).length;
    for (const index of pair) index.unlock();
    expect(refusals()).toBe(8);
    for (const index of pair) index.close();
    expect(refusals()).toBe(calls.length);
  });

  it("take the same rows, keys and sequences", () => {
    let refused = 0;
    fc.assert(
      fc.property(anyRows, float64s(3), edge, (content, keys, sequence) => {
        for (const index of pair) index.reset();
        if (isRefusal(both((index) => index.append(content)))) refused++;
        both((index) => index.publish(sequence));
        both((index) => index.remove(keys));
        both((index) => index.search(ask()));
      }),
      { numRuns: 150 },
    );
    expect(refused).toBeGreaterThan(20);
    expect(refused).toBeLessThan(140);
  });

  it("take and answer the same searches", () => {
    fill();
    let refused = 0;
    fc.assert(
      fc.property(requests, (request) => {
        if (isRefusal(both((index) => index.search(request)))) refused++;
      }),
      { numRuns: 1000 },
    );
    expect(refused).toBeGreaterThan(100);
    expect(refused).toBeLessThan(990);
  });

  it("name the same broken field off the main thread", async () => {
    const refused = { code: "invalid_argument", field: "extra.times" };
    const request = ask({ extra: rows({ times: new Float64Array(4).fill(Number.NaN) }) });
    for (const index of pair)
      await expect((async () => index.searchAsync(request))()).rejects.toMatchObject(refused);
  });

  it("fuse, or refuse to fuse, the same lists", () => {
    const lists: fc.Arbitrary<RankedLists> = fc.record({
      keys: pick(Float64Array.of(2, 4, 2), float64s(4)),
      offsets: pick(
        Uint32Array.of(0, 1, 3),
        fc.array(fc.nat(4), { maxLength: 4 }).map((all) => Uint32Array.from(all)),
      ),
      weights: pick(Float64Array.of(1, 0.5), float64s(3)),
    });
    const [native, reference] = cores();
    fc.assert(
      fc.property(lists, pick(60, edge), pick(Float64Array.of(3, 2, 1), float64s(4)), (given, k, scores) => {
        const rrf = (core: NativeCore) => outcome(() => core.fusion.rrf(given, k));
        const rsf = (core: NativeCore) => outcome(() => core.fusion.rsf(given, scores));
        expect(rrf(native)).toEqual(rrf(reference));
        expect(rsf(native)).toEqual(rsf(reference));
      }),
      { numRuns: 1000 },
    );
  });
});

describe("the limits", () => {
  it("leave every size and offset exact as a double", () => {
    expect(Number.isSafeInteger(LIMITS.maxRows * LIMITS.maxDimension * 4)).toBe(true);
    expect(2 ** 31).toBeLessThan(LIMITS.maxRows);
    expect(LIMITS.maxKey).toBe(2 ** 53 - 1);
  });
});
