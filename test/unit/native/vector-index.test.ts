// One suite over both vector indexes. The vectors have entries whose products and sums are exact in float32 in
// any order, so that scores and ties must agree to the bit with an oracle written as one expression.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type {
  AgeCut,
  SearchMethod,
  VectorIndex,
  VectorIndexOptions,
  VectorRows,
  VectorSearchRequest,
  VectorSearchResult,
} from "../../../ts/native/contract.js";
import { openTwinVectorIndex } from "../../../ts/native/twin/vector-index.js";
import { nativeAbsence, theAddon } from "../../support/native.js";

const DIMENSION = 16;
const IDENTITY = new Uint8Array(16).fill(7);
const METHODS: readonly SearchMethod[] = ["auto", "exact", "int8", "bits"];

interface Row {
  readonly key: number;
  readonly block: number;
  readonly scope: number;
  readonly time: number;
  readonly vector: Float32Array;
}

/** Unit vectors: four entries of ±1/2, sixteen of ±1/4, or one of ±1. */
function unitVector(kind: number, bits: number): Float32Array {
  const sign = (j: number) => ((bits >> j) & 1 ? -1 : 1);
  const vector = new Float32Array(DIMENSION);
  if (kind === 0) for (let j = 0; j < 4; j++) vector[(bits + 3 * j) % DIMENSION] = sign(j) / 2;
  if (kind === 1) for (let j = 0; j < DIMENSION; j++) vector[j] = sign(j) / 4;
  if (kind === 2) vector[bits % DIMENSION] = sign(5);
  return vector;
}

const vectors = fc.tuple(fc.nat(2), fc.nat(0xffff)).map(([kind, bits]) => unitVector(kind, bits));
const rows = fc.array(
  fc.record<Row>({
    key: fc.nat(24),
    block: fc.nat(3),
    scope: fc.nat(3),
    time: fc.integer({ min: 0, max: 6 }),
    vector: vectors,
  }),
  { maxLength: 40 },
);
/** Two rows of one record and block would leave open which of them is meant. */
const stored = rows.map((all) => {
  const first = (row: Row) => all.findIndex((o) => o.key === row.key && o.block === row.block);
  // A record has one time and one scope.
  const record = new Map(all.map((row) => [row.key, row]));
  return all
    .filter((row, i) => first(row) === i)
    .map((row) => ({ ...row, time: record.get(row.key)?.time ?? 0, scope: record.get(row.key)?.scope ?? 0 }));
});
const cut: fc.Arbitrary<AgeCut> = fc
  .tuple(fc.nat(7), fc.nat(24), fc.nat(7), fc.nat(24))
  .map((parts) => Float64Array.from(parts.map((x, i) => (i % 2 === 0 && x === 7 ? -Infinity : x))));
const keyList = fc
  .uniqueArray(fc.nat(24), { maxLength: 12 })
  .map((keys) => Float64Array.from(keys.sort((a, b) => a - b)));
const requests: fc.Arbitrary<VectorSearchRequest> = fc.record({
  query: vectors,
  scopes: fc.option(fc.uniqueArray(fc.nat(3)).map((codes) => Uint32Array.from(codes))),
  near: fc.option(cut),
  far: fc.option(cut),
  nearLimit: fc.nat(12),
  farLimit: fc.nat(12),
  floor: fc.constantFrom(-1, -0.25, 0, 0.25, 0.5),
  masked: fc.option(keyList),
  only: fc.option(keyList),
  extra: fc.constant(null),
  method: fc.constantFrom(...METHODS),
});

function rowsOf(list: readonly Row[]): VectorRows {
  const flat = new Float32Array(list.length * DIMENSION);
  list.forEach((row, i) => {
    flat.set(row.vector, i * DIMENSION);
  });
  return {
    keys: Float64Array.from(list, (row) => row.key),
    blocks: Uint32Array.from(list, (row) => row.block),
    scopes: Uint32Array.from(list, (row) => row.scope),
    times: Float64Array.from(list, (row) => row.time),
    vectors: flat,
  };
}

function ask(overrides: Partial<VectorSearchRequest> = {}): VectorSearchRequest {
  return {
    query: unitVector(2, 0),
    scopes: null,
    near: null,
    far: null,
    nearLimit: 10,
    farLimit: 0,
    floor: -1,
    masked: null,
    only: null,
    extra: null,
    method: "auto",
    ...overrides,
  };
}

/** The contract: what counts, which list, best block of each record, order, limit. */
function oracle(inside: readonly Row[], extra: readonly Row[], request: VectorSearchRequest) {
  const { query, scopes, near, far, masked, only, floor } = request;
  const within = (at: AgeCut, row: Row) => {
    const [time, key] = [at[(row.key % 2) * 2] as number, at[(row.key % 2) * 2 + 1] as number];
    return row.time > time || (row.time === time && row.key >= key);
  };
  const hits = [...inside.filter((row) => !masked?.includes(row.key)), ...extra]
    .filter((row) => scopes?.includes(row.scope) !== false && only?.includes(row.key) !== false)
    .map((row) => ({ ...row, score: row.vector.reduce((sum, x, j) => sum + x * (query[j] as number), 0) }))
    .filter((row) => row.score >= floor)
    .sort(
      (a, b) =>
        b.score - a.score ||
        b.time - a.time ||
        (a.key % 2) - (b.key % 2) ||
        b.key - a.key ||
        a.block - b.block,
    );
  const list = (belongs: (row: Row) => boolean, limit: number) =>
    hits
      .filter(belongs)
      .filter((row, i, all) => all.findIndex((other) => other.key === row.key) === i)
      .slice(0, limit);
  const isNear = (row: Row) => near === null || within(near, row);
  const isFar = (row: Row) => !isNear(row) && far !== null && within(far, row);
  const nearHits = list(isNear, request.nearLimit);
  return plainOf({
    nearCount: nearHits.length,
    hits: [...nearHits, ...list(isFar, request.farLimit)],
  });
}

function plainOf({ nearCount, hits }: { nearCount: number; hits: (Row & { score: number })[] }) {
  return {
    nearCount,
    hits: hits.map(({ key, block, score }) => ({ key, block, score })),
  };
}

function plain(result: VectorSearchResult) {
  const hits = [...result.keys].map((key, i) => ({
    key,
    block: result.blocks[i],
    score: result.scores[i],
  }));
  return { nearCount: result.nearCount, hits };
}

type Open = (options: VectorIndexOptions) => VectorIndex;

function suite(name: "native" | "twin", open: Open): void {
  const isSkipped = name === "native" && nativeAbsence !== "";
  describe.skipIf(isSkipped)(`${name} vector index${isSkipped ? nativeAbsence : ""}`, () => {
    let folder: string;
    let opened: VectorIndex[];

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "index-"));
      opened = [];
    });

    afterEach(() => {
      for (const index of opened) index.close();
      rmSync(folder, { recursive: true });
    });

    function openIndex(overrides: Partial<VectorIndexOptions> = {}): VectorIndex {
      const index = open({
        folder: join(folder, "index"),
        dimension: DIMENSION,
        identity: IDENTITY,
        ...overrides,
      });
      opened.push(index);
      return index;
    }

    function filled(list: readonly Row[]): VectorIndex {
      const index = openIndex();
      index.lock();
      index.append(rowsOf(list));
      index.publish(1);
      return index;
    }

    const some: readonly Row[] = [
      { key: 2, block: 0, scope: 0, time: 1, vector: unitVector(2, 0) },
      { key: 4, block: 0, scope: 1, time: 2, vector: unitVector(1, 0) },
      { key: 4, block: 1, scope: 1, time: 2, vector: unitVector(2, 1) },
      { key: 5, block: 0, scope: 0, time: 3, vector: unitVector(1, 0) },
    ];

    it("finds nothing in an empty index", () => {
      const index = openIndex();
      expect(plain(index.search(ask()))).toEqual({ nearCount: 0, hits: [] });
      expect(index.info()).toMatchObject({ rows: 0, live: 0, sequence: 0 });
    });

    it("shows appended rows only when they are published", () => {
      const index = openIndex();
      expect(index.lock()).toBe(true);
      index.append(rowsOf(some));
      expect(index.search(ask()).keys).toHaveLength(0);
      index.publish(9);
      expect(plain(index.search(ask()))).toEqual(oracle(some, [], ask()));
      expect(index.info()).toMatchObject({ rows: 4, live: 4, sequence: 9 });
    });

    it("needs the lock to write", async () => {
      const index = openIndex();
      const refused = expect.objectContaining({ code: "index_unavailable" });
      expect(() => index.append(rowsOf(some))).toThrow(refused);
      expect(() => index.remove(Float64Array.of(2))).toThrow(refused);
      expect(() => index.publish(1)).toThrow(refused);
      await expect(index.compact()).rejects.toThrow(refused);
      await expect(index.publishAsync(1)).rejects.toThrow(refused);
      expect(() => index.reset()).toThrow(refused);
      index.lock();
      index.unlock();
      expect(() => index.publish(1)).toThrow(refused);
    });

    it("leaves removed records out, and forgets them when it compacts", async () => {
      const index = filled(some);
      expect(index.remove(Float64Array.of(4, 99))).toBe(2);
      index.publish(2);
      const left = some.filter((row) => row.key !== 4);
      expect(plain(index.search(ask()))).toEqual(oracle(left, [], ask()));
      expect(index.info()).toMatchObject({ rows: 4, live: 2, sequence: 2 });
      const { generation } = index.info();
      expect(await index.compact()).toBe(true);
      expect(plain(index.search(ask()))).toEqual(oracle(left, [], ask()));
      expect(index.info()).toMatchObject({ rows: 2, live: 2, sequence: 2, centredRows: 2 });
      expect(index.info().generation).toBeGreaterThan(generation);
    });

    it("is empty after a reset and takes rows again", () => {
      const index = filled(some);
      index.reset();
      expect(index.info()).toMatchObject({ rows: 0, live: 0, sequence: 0 });
      index.append(rowsOf(some.slice(0, 1)));
      index.publish(1);
      expect([...index.search(ask()).keys]).toEqual([2]);
    });

    it("ranks rows outside the index with those inside", () => {
      const index = filled(some);
      const extra: Row[] = [{ key: 8, block: 0, scope: 0, time: 9, vector: unitVector(2, 0) }];
      const request = ask({ extra: rowsOf(extra), masked: Float64Array.of(4) });
      expect(plain(index.search(request))).toEqual(oracle(some, extra, request));
    });

    it("answers as the oracle does, by every method", { timeout: 60_000 }, () => {
      const index = openIndex();
      index.lock();
      fc.assert(
        fc.property(stored, stored, requests, (inside, others, request) => {
          index.reset();
          index.append(rowsOf(inside));
          index.publish(1);
          const extra = others.filter((row) => inside.every((known) => known.key !== row.key));
          const full = { ...request, extra: extra.length === 0 ? null : rowsOf(extra) };
          expect(plain(index.search(full))).toEqual(oracle(inside, extra, full));
        }),
        { numRuns: 150 },
      );
    });

    it("gives the same answer off the main thread, from a copy of its arguments", async () => {
      const index = filled(some);
      const request = ask({ scopes: Uint32Array.of(0, 1), extra: rowsOf(some.slice(0, 1)) });
      const expected = plain(index.search(request));
      const pending = index.searchAsync(request);
      if (name === "native") request.query.fill(0);
      expect(plain(await pending)).toEqual(expected);
    });

    it("refuses arguments that break their rule, and names them", async () => {
      const index = filled(some);
      const good = rowsOf(some);
      const field = (name: string) => expect.objectContaining({ code: "invalid_argument", field: name });
      const searches: [string, Partial<VectorSearchRequest>][] = [
        ["query", { query: new Float32Array(DIMENSION - 1) }],
        ["query", { query: new Float32Array(DIMENSION).fill(Number.NaN) }],
        ["near", { near: Float64Array.of(1) }],
        ["far", { far: Float64Array.of(1, Number.NaN, 1, 1) }],
        ["nearLimit", { nearLimit: -1 }],
        ["farLimit", { farLimit: 1.5 }],
        ["floor", { floor: Number.NaN }],
        ["masked", { masked: Float64Array.of(4, 2) }],
        ["only", { only: Float64Array.of(4, Number.NaN) }],
        ["extra.blocks", { extra: { ...good, blocks: new Uint32Array(1) } }],
        ["extra.keys", { extra: { ...good, keys: Float64Array.of(-1, 1, 1, 1) } }],
      ];
      for (const [name, overrides] of searches) {
        expect(() => index.search(ask(overrides))).toThrow(field(name));
        await expect(
          (async () => index.searchAsync(ask(overrides)))(),
          `${name} off the main thread`,
        ).rejects.toThrow(field(name));
      }
      expect(() => index.append({ ...good, vectors: new Float32Array(1) })).toThrow(field("rows.vectors"));
      expect(() => index.append({ ...good, times: new Float64Array(3) })).toThrow(field("rows.times"));
      expect(() => index.remove(Float64Array.of(0.5))).toThrow(field("keys"));
      expect(() => index.publish(-1)).toThrow(field("sequence"));
    });

    it("refuses options that break their rule", () => {
      const field = (name: string) => expect.objectContaining({ code: "invalid_argument", field: name });
      expect(() => openIndex({ dimension: 0 })).toThrow(field("dimension"));
      expect(() => openIndex({ identity: new Uint8Array(15) })).toThrow(field("identity"));
    });

    it("refuses calls after close, and closes twice", () => {
      const index = filled(some);
      index.close();
      index.close();
      const refused = expect.objectContaining({ code: "index_unavailable" });
      expect(() => index.search(ask())).toThrow(refused);
      expect(() => index.info()).toThrow(refused);
      expect(() => index.lock()).toThrow(refused);
      expect(() => index.unlock()).not.toThrow();
    });
  });
}

suite("twin", openTwinVectorIndex);
suite("native", (options) => theAddon().core.openVectorIndex(options));

describe.skipIf(nativeAbsence !== "")(`native vector index on disk${nativeAbsence}`, () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "index-"));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function openHere(overrides: Partial<VectorIndexOptions> = {}) {
    const options = { folder, dimension: DIMENSION, identity: IDENTITY, ...overrides };
    return theAddon().core.openVectorIndex(options);
  }

  const row: Row = { key: 2, block: 0, scope: 0, time: 1, vector: unitVector(2, 0) };

  it("needs a folder", () => {
    const refused = expect.objectContaining({ code: "invalid_argument", field: "folder" });
    expect(() => openHere({ folder: null })).toThrow(refused);
  });

  it("has one writer among its handles, and frees the lock when a handle closes", () => {
    const [first, second] = [openHere(), openHere()];
    expect(first.lock()).toBe(true);
    expect(second.lock()).toBe(false);
    first.close();
    expect(second.lock()).toBe(true);
    second.close();
  });

  it("shows published rows to other handles and after it is opened again", () => {
    const [writer, reader] = [openHere(), openHere()];
    writer.lock();
    writer.append(rowsOf([row]));
    writer.publish(5);
    expect([...reader.search(ask()).keys]).toEqual([2]);
    writer.close();
    reader.close();
    const again = openHere();
    expect(again.info()).toMatchObject({ rows: 1, live: 1, sequence: 5 });
    again.close();
  });

  it("is empty for another identity", () => {
    const writer = openHere();
    writer.lock();
    writer.append(rowsOf([row]));
    writer.publish(5);
    writer.close();
    const foreign = openHere({ identity: new Uint8Array(16) });
    expect(foreign.info()).toMatchObject({ live: 0, sequence: 0 });
    expect(foreign.search(ask()).keys).toHaveLength(0);
    foreign.close();
  });

  it("finds its files whole", async () => {
    const index = openHere();
    index.lock();
    index.append(rowsOf([row]));
    index.publish(1);
    await index.verify();
    index.close();
    await expect(index.verify()).rejects.toMatchObject({ code: "index_unavailable" });
  });

  it("finishes a search that was running when the index closed", async () => {
    const index = openHere();
    index.lock();
    index.append(rowsOf([row]));
    index.publish(1);
    const pending = index.searchAsync(ask());
    index.close();
    expect([...(await pending).keys]).toEqual([2]);
  });
});
