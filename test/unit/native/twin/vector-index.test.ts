import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgeCut, VectorIndex, VectorRows, VectorSearchRequest } from "../../../../ts/native/contract.js";
import { openTwinVectorIndex } from "../../../../ts/native/twin/vector-index.js";

const DIMENSION = 3;

interface Row {
  key: number;
  block: number;
  scope: number;
  time: number;
  vector: number[];
}

function open(dimension = DIMENSION): VectorIndex {
  const index = openTwinVectorIndex({ folder: null, dimension, identity: new Uint8Array(16) });
  index.lock();
  return index;
}

function rowsOf(rows: readonly Row[]): VectorRows {
  return {
    keys: Float64Array.from(rows, (row) => row.key),
    blocks: Uint32Array.from(rows, (row) => row.block),
    scopes: Uint32Array.from(rows, (row) => row.scope),
    times: Float64Array.from(rows, (row) => row.time),
    vectors: Float32Array.from(rows.flatMap((row) => row.vector)),
  };
}

function ask(overrides: Partial<VectorSearchRequest> = {}): VectorSearchRequest {
  return {
    query: Float32Array.of(1, 0, 0),
    scopes: null,
    near: null,
    far: null,
    nearLimit: 10,
    farLimit: 10,
    floor: -1,
    masked: null,
    only: null,
    extra: null,
    method: "auto",
    ...overrides,
  };
}

function row(key: number, score: number, overrides: Partial<Row> = {}): Row {
  return { key, block: 0, scope: 0, time: 0, vector: [score, 0, 0], ...overrides };
}

/** The whole contract in one expression: filter, sort, first block of each record, cut. */
function oracleList(rows: readonly Row[], request: VectorSearchRequest, limit: number): Row[] {
  const score = (r: Row) =>
    Math.fround(r.vector.reduce((sum, value, j) => sum + value * (request.query[j] ?? 0), 0));
  return rows
    .filter((r) => request.scopes === null || request.scopes.includes(r.scope))
    .filter((r) => request.only === null || request.only.includes(r.key))
    .filter((r) => score(r) >= request.floor)
    .sort(
      (a, b) =>
        score(b) - score(a) ||
        b.time - a.time ||
        (a.key % 2) - (b.key % 2) ||
        b.key - a.key ||
        a.block - b.block,
    )
    .filter((r, i, all) => all.findIndex((other) => other.key === r.key) === i)
    .slice(0, limit);
}

function isWithin(cut: AgeCut, r: Row): boolean {
  const [time = 0, key = 0] = r.key % 2 === 0 ? cut : cut.slice(2);
  return r.time > time || (r.time === time && r.key >= key);
}

function oracle(stored: readonly Row[], extra: readonly Row[], request: VectorSearchRequest) {
  const { near, far } = request;
  const visible = [...stored.filter((r) => !request.masked?.includes(r.key)), ...extra];
  const nearRows = visible.filter((r) => near === null || isWithin(near, r));
  const farRows = visible.filter(
    (r) => near !== null && far !== null && !isWithin(near, r) && isWithin(far, r),
  );
  const nearList = oracleList(nearRows, request, request.nearLimit);
  const list = [...nearList, ...oracleList(farRows, request, request.farLimit)];
  return {
    nearCount: nearList.length,
    keys: list.map((r) => r.key),
    blocks: list.map((r) => r.block),
  };
}

// Few different values, so that ties, shared keys and hits on a cut's edge are common.
const smallRow: fc.Arbitrary<Row> = fc.record({
  key: fc.nat(9),
  block: fc.nat(3),
  scope: fc.nat(2),
  time: fc.nat(3),
  vector: fc.tuple(fc.integer({ min: -2, max: 2 }), fc.nat(1), fc.nat(1)),
});
const keySet = fc
  .uniqueArray(fc.nat(9))
  .map((keys) => Float64Array.from(keys).sort())
  .map((keys) => (keys.length === 0 ? null : keys));
const cut = fc.option(
  fc
    .tuple(fc.constantFrom(Number.NEGATIVE_INFINITY, 0, 1, 2), fc.nat(9), fc.nat(3), fc.nat(9))
    .map((parts) => Float64Array.from(parts)),
);

describe("the twin's vector index", () => {
  it("agrees with the oracle on scopes, cuts, masks, extras, blocks and ties", () => {
    const request = fc.record({
      query: fc.tuple(fc.nat(2), fc.nat(1), fc.nat(1)).map((parts) => Float32Array.from(parts)),
      scopes: fc.option(fc.uniqueArray(fc.nat(2)).map((scopes) => Uint32Array.from(scopes))),
      near: cut,
      far: cut,
      nearLimit: fc.nat(6),
      farLimit: fc.nat(6),
      floor: fc.constantFrom(-100, 0, 1),
      masked: keySet,
      only: keySet,
    });
    fc.assert(
      fc.property(
        fc.array(smallRow, { maxLength: 40 }),
        fc.array(smallRow, { maxLength: 8 }),
        keySet,
        request,
        (stored, extra, removed, parts) => {
          const index = open();
          index.append(rowsOf(stored));
          if (removed !== null) index.remove(removed);
          index.publish(1);
          const live = stored.filter((r) => !removed?.includes(r.key));
          const asked = ask({ ...parts, extra: extra.length === 0 ? null : rowsOf(extra) });
          const found = index.search(asked);
          const { nearCount, keys, blocks } = found;
          expect({ nearCount, keys: [...keys], blocks: [...blocks] }).toEqual(oracle(live, extra, asked));
          if (removed !== null) {
            index.compact();
            expect(index.search(asked)).toEqual(found);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it("sums long and odd dimensions", () => {
    for (const dimension of [1, 2, 4, 5, 7, 384, 385]) {
      const index = open(dimension);
      const vector = Array.from({ length: dimension }, (_, j) => (j % 7) - 3);
      index.append(rowsOf([row(2, 0, { vector })]));
      index.publish(1);
      const found = index.search(ask({ query: Float32Array.from(vector) }));
      expect([...found.scores]).toEqual([vector.reduce((sum, value) => sum + value * value, 0)]);
    }
  });

  it("gives a record its best block and breaks ties by time, class, then larger key", () => {
    const index = open();
    index.append(
      rowsOf([
        row(2, 0.5),
        row(2, 0.75, { block: 1 }),
        row(4, 0.75, { time: 9 }),
        row(7, 0.25),
        row(8, 0.25),
        row(10, 0.25),
      ]),
    );
    index.publish(1);
    const found = index.search(ask());
    expect([...found.keys]).toEqual([4, 2, 10, 8, 7]);
    expect([...found.blocks]).toEqual([0, 1, 0, 0, 0]);
    expect([...found.scores]).toEqual([0.75, 0.75, 0.25, 0.25, 0.25]);
    expect(found.nearCount).toBe(5);
  });

  it("splits near from far by age, each class by its own cut", () => {
    const index = open();
    index.append(
      rowsOf([
        row(2, 0.9, { time: 10 }),
        row(4, 0.8, { time: 10 }),
        row(6, 0.7, { time: 5 }),
        row(3, 0.6, { time: 1 }),
        row(8, 1, { time: 0 }),
      ]),
    );
    index.publish(1);
    const near = Float64Array.of(10, 4, Number.NEGATIVE_INFINITY, 0);
    const found = index.search(ask({ near, far: Float64Array.of(1, 0, 1, 0) }));
    expect([...found.keys]).toEqual([4, 3, 2, 6]);
    expect(found.nearCount).toBe(2);
    expect([...index.search(ask({ near })).keys]).toEqual([4, 3]);
  });

  it("shows appended rows after publish, removed rows never again", () => {
    const index = open();
    index.append(rowsOf([row(2, 1), row(4, 0.5)]));
    expect(index.search(ask()).keys).toHaveLength(0);
    expect(index.info()).toMatchObject({ rows: 0, live: 0, sequence: 0 });
    index.publish(7);
    expect(index.info()).toMatchObject({ rows: 2, live: 2, sequence: 7 });
    expect(index.remove(Float64Array.of(2, 99))).toBe(1);
    expect(index.remove(Float64Array.of(2))).toBe(0);
    expect([...index.search(ask()).keys]).toEqual([4]);
    index.append(rowsOf([row(2, 0.75)]));
    index.publish(8);
    expect([...index.search(ask()).keys]).toEqual([2, 4]);
    const { generation } = index.info();
    index.compact();
    expect(index.info()).toMatchObject({ rows: 2, live: 2, sequence: 8, generation: generation + 1 });
    index.reset();
    expect(index.info()).toMatchObject({ rows: 0, live: 0, sequence: 0, generation: generation + 2 });
  });

  it("keeps rows that wait for publish through a compaction", () => {
    const index = open();
    index.append(rowsOf([row(2, 1), row(4, 1)]));
    index.publish(1);
    index.remove(Float64Array.of(2));
    index.append(rowsOf([row(6, 1)]));
    index.compact();
    expect([...index.search(ask()).keys]).toEqual([4]);
    index.publish(2);
    expect([...index.search(ask()).keys]).toEqual([6, 4]);
  });

  it("scores an extra row although its key is masked", () => {
    const index = open();
    index.append(rowsOf([row(2, 1)]));
    index.publish(1);
    const extra = rowsOf([row(2, 0.5, { block: 3 })]);
    const found = index.search(ask({ masked: Float64Array.of(2), extra }));
    expect([...found.scores]).toEqual([0.5]);
    expect([...found.blocks]).toEqual([3]);
  });

  it("admits everything at floor -1, and compares other floors as float32", () => {
    const index = open();
    index.append(rowsOf([row(2, -1.0000001), row(4, 0.7)]));
    index.publish(1);
    expect(index.search(ask()).keys).toHaveLength(2);
    expect([...index.search(ask({ floor: 0.7 })).keys]).toEqual([4]);
  });

  it("answers asynchronously with the same result", async () => {
    const index = open();
    index.append(rowsOf([row(2, 1), row(4, 0.5)]));
    index.publish(1);
    await expect(index.searchAsync(ask())).resolves.toEqual(index.search(ask()));
    await expect(index.searchAsync(ask({ nearLimit: -1 }))).rejects.toMatchObject({
      code: "invalid_argument",
      field: "nearLimit",
    });
  });

  it("refuses what does not fit", () => {
    const options = { folder: null, dimension: 3, identity: new Uint8Array(16) };
    const invalid = (field: string) =>
      expect.objectContaining({ name: "MemoryError", code: "invalid_argument", field });
    expect(() => openTwinVectorIndex({ ...options, dimension: 0 })).toThrow(invalid("dimension"));
    expect(() => openTwinVectorIndex({ ...options, identity: new Uint8Array(3) })).toThrow(
      invalid("identity"),
    );
    const index = open();
    const good = rowsOf([row(2, 1)]);
    const badRows: [Partial<VectorRows>, string][] = [
      [{ vectors: new Float32Array(2) }, "rows.vectors"],
      [{ vectors: Float32Array.of(1, Number.NaN, 0) }, "rows.vectors"],
      [{ keys: Float64Array.of(1.5) }, "rows.keys"],
      [{ blocks: new Uint32Array(2) }, "rows.blocks"],
      [{ scopes: new Uint32Array(0) }, "rows.scopes"],
      [{ times: Float64Array.of(Number.NaN) }, "rows.times"],
    ];
    for (const [part, field] of badRows) {
      expect(() => index.append({ ...good, ...part })).toThrow(invalid(field));
    }
    const badRequests: [Partial<VectorSearchRequest>, string][] = [
      [{ query: new Float32Array(4) }, "query"],
      [{ near: new Float64Array(3) }, "near"],
      [{ far: Float64Array.of(0, 0, Number.NaN, 0) }, "far"],
      [{ farLimit: 1.5 }, "farLimit"],
      [{ floor: Number.NaN }, "floor"],
      [{ masked: Float64Array.of(2, 1) }, "masked"],
      [{ only: Float64Array.of(2, Number.NaN) }, "only"],
      [{ extra: { ...good, vectors: new Float32Array(1) } }, "extra.vectors"],
    ];
    for (const [part, field] of badRequests) expect(() => index.search(ask(part))).toThrow(invalid(field));
    expect(() => index.publish(-1)).toThrow(invalid("sequence"));
    expect(() => index.remove(Float64Array.of(-2))).toThrow(invalid("keys"));
  });

  it("refuses writes without the lock and everything after close", () => {
    const index = open();
    index.unlock();
    const unavailable = expect.objectContaining({ code: "index_unavailable" });
    expect(() => index.append(rowsOf([row(2, 1)]))).toThrow(unavailable);
    expect(index.lock()).toBe(true);
    index.close();
    expect(() => index.search(ask())).toThrow(unavailable);
    expect(() => index.publish(1)).toThrow(unavailable);
    expect(() => index.close()).not.toThrow();
  });
});
