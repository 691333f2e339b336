import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { recordKey } from "../../../ts/domain/record.js";
import type { NativeCore, VectorIndex } from "../../../ts/native/contract.js";
import { openCore } from "../../../ts/native/core.js";
import type { Store } from "../../../ts/store/store.js";
import { Supervisor } from "../../../ts/supervisor.js";
import { VectorSearch } from "../../../ts/vectors/vector-search.js";
import type { VectorQuery } from "../../../ts/vectors/vector-source.js";
import { aMemory, anEmbedding } from "../../support/builders.js";
import { nativeAbsence, theAddon } from "../../support/native.js";
import { openStore, sql } from "../../support/store.js";
import { tempFolder } from "../../support/temp.js";

const ASK: VectorQuery = {
  query: Float32Array.of(1, 0, 0),
  scopes: null,
  near: null,
  far: null,
  nearLimit: 1000,
  farLimit: 0,
  floor: -1,
  only: null,
  method: "exact",
};

const { core: twin } = openCore({ mode: "off" });
const hasAddon = nativeAbsence === "";
const cores = [
  { name: "twins", core: twin },
  ...(hasAddon ? [{ name: "addon", core: theAddon().core }] : []),
];
if (!hasAddon) it.skip(`vector search with the addon${nativeAbsence}`, () => {});

/** As if these changes had been committed one by one. */
function logMany(path: string, count: number, key: number): void {
  sql(
    path,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO vector_changes (record_key) SELECT ${key} FROM n`,
  );
}

interface Bench {
  readonly folder: string;
  readonly store: Store;
  readonly index: VectorIndex;
  readonly search: VectorSearch;
  readonly path: string;
  add(angle: number): number;
  /** ids found, best first */
  found(): Promise<number[]>;
}

function openSearch(core: NativeCore, path: string, folder: string): Bench {
  const store = openStore(path);
  const code = store.embeddings.embedderCode("test:model:3", 3);
  const options = { dimension: 3, identity: new Uint8Array(16).fill(7) };
  const index = core.openVectorIndex({ ...options, folder });
  const search = new VectorSearch(
    index,
    {
      lastSequence: () => store.embeddings.lastSequence(),
      firstSequence: () => store.embeddings.firstSequence(),
      shortenLog: (sequence) => store.changeLog.shorten(code, sequence),
      changedAfter: (after, until) => store.embeddings.changedAfter(after, until),
      rowsOf: (keys) => store.embeddings.rowsOf(keys, code, 3),
      rowsAfter: (after, limit) => store.embeddings.rowsAfter(after, code, 3, limit),
      rowsBefore: (before, limit) => store.embeddings.rowsBefore(before, code, 3, limit),
    },
    {
      supervisor: new Supervisor({ now: () => Date.now() }),
      inMemory: core.kind === "twin",
      openScratch: () => core.openVectorIndex({ ...options, folder: join(tempFolder(), "none") }),
    },
  );
  onTestFinished(() => search.close().catch(() => {}));
  let added = 0;
  return {
    store,
    index,
    search,
    path,
    folder,
    add: (angle) => {
      const embedding = anEmbedding([Math.cos(angle), Math.sin(angle), 0]);
      return store.addMemory(aMemory(`${path} ${added++} ${angle}`), embedding) as number;
    },
    found: async () => Array.from((await search.search(ASK)).keys, (key) => key / 2),
  };
}

describe.each(cores)("vector search, $name", ({ core }) => {
  const bench = (path = join(tempFolder(), "memory.db"), folder = join(tempFolder(), "index")): Bench =>
    openSearch(core, path, folder);

  it("finds a row at once, before the index has it", async () => {
    const { add, found, search } = bench();
    const far = add(1);
    expect(await found()).toEqual([far]);
    const near = add(0.1);
    expect(search.info().behind).toBeGreaterThan(0);
    expect(await found()).toEqual([near, far]);
  });

  it("finds the same after the index took the rows up", async () => {
    const { add, found, search } = bench();
    const ids = [0.3, 0.1, 0.2].map(add);
    const expected = [ids[1], ids[2], ids[0]];
    expect(await found()).toEqual(expected);
    await search.sync();
    expect(search.info()).toMatchObject({ behind: 0, live: 3 });
    expect(await found()).toEqual(expected);
  });

  it("hides a deleted row at once and for good", async () => {
    const { add, found, search, store } = bench();
    const [a = 0, b = 0] = [0.1, 0.2].map(add);
    await search.sync();
    store.deleteMemory(a);
    expect(await found()).toEqual([b]);
    await search.sync();
    expect(await found()).toEqual([b]);
    expect(search.info()).toMatchObject({ live: 1 });
  });

  it("uses the new vector of a changed row, not the old one", async () => {
    const { add, found, search, store } = bench();
    const [a = 0, b = 0] = [0.1, 0.2].map(add);
    await search.sync();
    const code = store.embeddings.embedderCode("test:model:3", 3);
    store.embeddings.put(recordKey("mem", a), code, anEmbedding([Math.cos(1), Math.sin(1), 0]).blocks);
    expect(await found()).toEqual([b, a]);
    await search.sync();
    expect(await found()).toEqual([b, a]);
  });

  it("follows rows that another process wrote", async () => {
    const first = bench();
    const second = bench(first.path);
    const a = first.add(0.2);
    expect(await second.found()).toEqual([a]);
    await second.search.sync();
    const b = second.add(0.1);
    expect(await first.found()).toEqual([b, a]);
  });

  it("takes up nothing as done that another process commits while it looks", async () => {
    const first = bench();
    const a = first.add(0.2);
    await first.search.sync();
    const b = first.add(0.1);
    const { embeddings } = first.store;
    const look = embeddings.changedAfter.bind(embeddings);
    let late = 0;
    vi.spyOn(embeddings, "changedAfter").mockImplementation((after, until) => {
      const changed = look(after, until);
      if (late === 0) late = first.add(0.3);
      return changed;
    });
    await first.search.sync();
    expect(first.search.info()).toMatchObject({ behind: 1, live: 2 });
    expect(await first.found()).toEqual([b, a, late]);
  });

  it("takes up many rows before it searches", async () => {
    const { add, found, search, store } = bench();
    store.database.transaction(() => {
      for (let i = 0; i < 1200; i++) add(i / 1000);
    });
    expect(await found()).toHaveLength(1000);
    await search.sync();
    expect(search.info()).toMatchObject({ behind: 0, live: 1200 });
    expect((await found())[0]).toBe(1);
  });

  it("rebuilds what the log no longer tells", async () => {
    const { add, found, path, search, store } = bench();
    const [a = 0, b = 0, c = 0] = [0.1, 0.2, 0.3].map(add);
    await search.sync();
    const d = add(0.4);
    store.deleteMemory(b);
    add(0.5);
    sql(path, "DELETE FROM vector_changes WHERE sequence <= 5");
    expect(await found()).toEqual([a, c, d, 5]);
    await search.sync();
    expect(search.info()).toMatchObject({ behind: 0, live: 4 });
  });

  it("rebuilds an index whose changes were removed because all others had them", async () => {
    const first = bench();
    const ids = [0.3, 0.2].map(first.add);
    await first.search.sync();
    const second = bench(first.path);
    expect(await second.found()).toEqual([...ids].reverse());
    await second.search.sync();
    const c = first.add(0.1);
    logMany(first.path, 25_000, recordKey("mem", ids[0] ?? 0));
    await first.search.sync();
    const kept = Number(sql(first.path, "SELECT count(*) AS n FROM vector_changes")[0]?.["n"]);
    if (core.kind === "twin") expect(kept).toBe(25_003);
    else expect(kept).toBe(10_000);
    expect(first.search.info()).toMatchObject({ behind: 0 });
    // The other index is of its own here, and far behind.
    const expected = [c, ids[1], ids[0]];
    expect(await second.found()).toEqual(expected);
    await second.search.sync();
    expect(second.search.info()).toMatchObject({ behind: 0, live: 3 });
    expect(await second.found()).toEqual(expected);
  });

  it("rebuilds an index that is ahead of its database, as after a restored backup", async () => {
    const { add, found, index, search } = bench();
    const a = add(0.1);
    index.lock();
    index.append({
      keys: Float64Array.of(998),
      blocks: Uint32Array.of(0),
      scopes: Uint32Array.of(1),
      times: Float64Array.of(0),
      vectors: Float32Array.of(1, 0, 0),
    });
    index.publish(500);
    index.unlock();
    expect(await found()).toEqual([a]);
    expect(search.info()).toMatchObject({ behind: 0, live: 1 });
  });

  it("answers searches while it takes rows up", async () => {
    const { add, found, search } = bench();
    for (let i = 0; i < 300; i++) add(i / 100);
    const [, one, two] = await Promise.all([search.sync(), found(), found()]);
    expect(one).toHaveLength(300);
    expect(two).toEqual(one);
  });

  it("drops removed rows when they are many, and finds the same", async () => {
    const { add, found, search, store } = bench();
    store.database.transaction(() => {
      for (let i = 0; i < 3000; i++) add(1 - i / 3000);
    });
    await search.sync();
    const { generation } = search.info();
    store.database.transaction(() => {
      for (let id = 2; id <= 3000; id += 2) store.deleteMemory(id);
    });
    const expected = await found();
    await search.sync();
    expect(search.info()).toMatchObject({ rows: 1500, live: 1500, behind: 0 });
    expect(search.info().generation).toBeGreaterThan(generation);
    expect(await found()).toEqual(expected);
    expect(expected[0]).toBe(2999);
  });

  it("learns what vectors share when they have multiplied, and not before", async () => {
    const { add, found, search, store, index } = bench();
    const grow = async (count: number): Promise<number> => {
      store.database.transaction(() => {
        for (let i = 0; i < count; i++) add(0.1 + i / 4000);
      });
      await search.sync();
      return index.info().generation;
    };
    const small = await grow(2000);
    // A twin has no sign bits to make anew.
    const made = core.kind === "twin" ? 0 : 1;
    const large = await grow(100);
    expect(large - small).toBe(made);
    expect(index.info().centredRows).toBe(core.kind === "twin" ? index.info().live : 2100);
    expect(await grow(3000)).toBe(large);
    // Of equal ones the newest: the first of each growth.
    expect((await found()).slice(0, 3)).toEqual([2101, 2001, 1]);
  });

  it("leaves a few removed rows where they are", async () => {
    const { add, search, store } = bench();
    store.database.transaction(() => {
      for (let i = 0; i < 3000; i++) add(i / 3000);
    });
    await search.sync();
    const { generation } = search.info();
    store.deleteMemory(7);
    await search.sync();
    expect(search.info()).toMatchObject({ rows: 3000, live: 2999, behind: 0, generation });
  });

  it("keeps everything when it is closed in the middle of an update", async () => {
    const first = bench();
    first.store.database.transaction(() => {
      for (let i = 0; i < 2500; i++) first.add(i / 2500);
    });
    await first.search.sync();
    first.store.database.transaction(() => {
      for (let id = 1; id <= 2000; id++) first.store.deleteMemory(id);
    });
    const syncing = first.search.sync();
    await new Promise((resolve) => setImmediate(resolve));
    await first.search.close();
    await syncing;
    const second = bench(first.path, first.folder);
    expect(await second.found()).toHaveLength(500);
    await second.search.sync();
    expect(second.search.info()).toMatchObject({ live: 500, behind: 0 });
    expect(await second.found()).toHaveLength(500);
  });

  it("ends its background work when it is closed", async () => {
    const { add, found, search } = bench();
    add(0.1);
    await found();
    const syncing = search.sync();
    await search.close();
    await syncing;
    await expect(found()).rejects.toThrow();
  });
});

describe.skipIf(!hasAddon)("vector search over damaged files", () => {
  const FILES = ["head", "vectors.f32", "vectors.i8", "bits.u64", "meta", "dead"];
  const damages: [string, (generation: string, index: string) => void][] = [
    ...FILES.flatMap((name): typeof damages => [
      [`${name} cut to nothing`, (generation) => truncateSync(join(generation, name), 0)],
      [`${name} gone`, (generation) => rmSync(join(generation, name))],
    ]),
    ["a head of other bytes", (generation) => writeFileSync(join(generation, "head"), Buffer.alloc(8192, 7))],
    ["a pointer of other bytes", (_, index) => writeFileSync(join(index, "current"), "gen-1")],
    ["no pointer", (_, index) => rmSync(join(index, "current"))],
    ["no generation", (generation) => rmSync(generation, { recursive: true })],
    ["no folder", (_, index) => rmSync(index, { recursive: true })],
  ];

  it.each(damages)("goes on from the store and makes the index anew: %s", async (_, damage) => {
    const { core } = theAddon();
    const path = join(tempFolder(), "memory.db");
    const folder = join(tempFolder(), "index");
    const first = openSearch(core, path, folder);
    first.store.database.transaction(() => {
      for (let i = 0; i < 40; i++) first.add(1 - i / 50);
    });
    await first.search.sync();
    const expected = await first.found();
    expect(expected[0]).toBe(40);
    damage(join(folder, `gen-${first.search.info().generation}`), folder);
    const second = openSearch(core, path, folder);
    for (const { found, search } of [first, second]) {
      expect(await found()).toEqual(expected);
      expect(search.info().behind).toBeGreaterThanOrEqual(0);
    }
    const added = first.add(0);
    for (const { found, search } of [first, second]) {
      expect((await found())[0]).toBe(added);
      // Either may be the one that makes it anew, while the other's turn ends at once.
      await vi.waitFor(async () => {
        await search.sync();
        expect(search.info()).toMatchObject({ live: 41, behind: 0 });
      }, 10_000);
      expect(await search.verify()).toBe(true);
      expect((await found())[0]).toBe(added);
    }
  });

  it("searches the store where the index can never be written", async () => {
    const folder = join(tempFolder(), "index");
    writeFileSync(folder, "a file stands where the folder should be");
    const { add, found, search, store } = openSearch(
      theAddon().core,
      join(tempFolder(), "memory.db"),
      folder,
    );
    store.database.transaction(() => {
      for (let i = 0; i < 700; i++) add(1 - i / 1000);
    });
    for (let i = 0; i < 2; i++) {
      expect((await found())[0]).toBe(700);
      await search.sync();
      expect(search.info()).toMatchObject({ rows: 0, behind: 700 });
    }
  });

  it("notices a flipped bit when it verifies, and is whole after a repair", async () => {
    const folder = join(tempFolder(), "index");
    const { add, search } = openSearch(theAddon().core, join(tempFolder(), "memory.db"), folder);
    add(0.5);
    await search.sync();
    expect(await search.verify()).toBe(true);
    const file = join(folder, `gen-${search.info().generation}`, "vectors.f32");
    const bytes = readFileSync(file);
    bytes[1] = (bytes[1] ?? 0) ^ 4;
    writeFileSync(file, bytes);
    expect(await search.verify()).toBe(false);
    await search.rebuild();
    expect(await search.verify()).toBe(true);
    expect(search.info()).toMatchObject({ live: 1, behind: 0 });
  });
});
