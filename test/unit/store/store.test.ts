import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RecordKind } from "../../../ts/domain/record.js";
import { recordKey } from "../../../ts/domain/record.js";
import type { ReadScope } from "../../../ts/domain/scope.js";
import { Lease } from "../../../ts/store/lease.js";
import type { Store } from "../../../ts/store/store.js";
import { foldText } from "../../../ts/text/normalise.js";
import { indexTerms } from "../../../ts/text/tokenise.js";
import { aMemory, anEmbedding, anEpisode } from "../../support/builders.js";
import { openStore, sql } from "../../support/store.js";
import { tempFolder } from "../../support/temp.js";

const ALL: ReadScope = { agentId: null, projectId: null, channel: null };
const ofA: ReadScope = { ...ALL, agentId: "agent-a" };

const byWords = (store: Store, text: string, kind: RecordKind = "mem"): number[] =>
  store.lexical.searchTerms(kind, indexTerms(text), ALL, null, 100).map((hit) => hit.id);
const bySubstring = (store: Store, text: string, kind: RecordKind = "mem"): number[] =>
  store.lexical.searchSubstrings(kind, [foldText(text)], ALL, null, 100).map((hit) => hit.id);

describe("a stored memory", () => {
  it("reads back as it was written", () => {
    const store = openStore();
    const memory = aMemory("東京 🎌 'quotes' \"too\"", {
      projectId: "p",
      channel: "c",
      msgId: "m1",
      source: { type: "User", id: "u", nested: { a: [1, null] } },
      metadata: { k: "v" },
      locked: true,
    });
    const id = store.addMemory(memory, null) as number;
    expect(store.memories.get([id], ALL)).toMatchObject([{ ...memory, id }]);
  });

  it("is refused by the unique indexes, and the words of the first stay", () => {
    const store = openStore();
    const id = store.addMemory(aMemory("umbrella", { msgId: "m1" }), null);
    expect(store.addMemory(aMemory("umbrella", { msgId: "m2" }), null)).toBeNull();
    expect(store.addMemory(aMemory("parasol", { msgId: "m1" }), null)).toBeNull();
    expect(byWords(store, "umbrella")).toEqual([id]);
    expect(byWords(store, "parasol")).toEqual([]);
    expect(store.database.value("SELECT count(*) FROM memory_terms_docsize")).toBe(1);
  });

  it("keeps its id for good: a deleted one is never given again", () => {
    const store = openStore();
    const first = store.addMemory(aMemory("one"), null) as number;
    store.deleteMemory(first);
    expect(store.addMemory(aMemory("two"), null)).toBeGreaterThan(first);
  });

  it("is readable when another program damaged its JSON", () => {
    const path = join(tempFolder(), "memory.db");
    const store = openStore(path);
    const id = store.addMemory(aMemory("umbrella"), null) as number;
    sql(path, "UPDATE memories SET source = '{broken', metadata = 'x'");
    expect(store.memories.get([id], ALL)).toMatchObject([{ content: "umbrella", source: {}, metadata: {} }]);
    expect(store.memories.newest(ALL, { id: "u1", exact: true }, 10)).toEqual([]);
  });
});

describe("the words and substring indexes", () => {
  it("find a memory by its words and by parts of them", () => {
    const store = openStore();
    const id = store.addMemory(aMemory("see MemoryIndexBuilder in 東京"), null);
    expect(byWords(store, "東京")).toEqual([id]);
    expect(byWords(store, "index")).toEqual([id]);
    expect(bySubstring(store, "exBuil")).toEqual([id]);
  });

  it("forget a deleted memory, and only it", () => {
    const store = openStore();
    const gone = store.addMemory(aMemory("red umbrella"), null) as number;
    const kept = store.addMemory(aMemory("blue umbrella"), null) as number;
    store.deleteMemory(gone);
    expect(byWords(store, "umbrella")).toEqual([kept]);
    expect(bySubstring(store, "umbrella")).toEqual([kept]);
    expect(byWords(store, "red")).toEqual([]);
    expect(store.lexical.documentFrequencies(["red", "umbrella"])).toEqual(
      new Map([
        ["red", 0],
        ["umbrella", 1],
      ]),
    );
    expect(store.lexical.isIntact()).toBe(true);
  });

  it("follow a changed text", () => {
    const store = openStore();
    const id = store.addMemory(aMemory("red umbrella"), null) as number;
    store.lexical.put("mem", id, "blue parasol");
    expect(byWords(store, "umbrella")).toEqual([]);
    expect(bySubstring(store, "umbrella")).toEqual([]);
    expect(byWords(store, "parasol")).toEqual([id]);
    expect(bySubstring(store, "araso")).toEqual([id]);
    expect(store.lexical.isIntact()).toBe(true);
  });

  it("hold summary and keywords of an episode, apart from memories", () => {
    const store = openStore();
    const id = store.addEpisode(anEpisode("we planned the garden", { keywords: "tulips" }), null);
    store.addMemory(aMemory("an umbrella"), null);
    expect(byWords(store, "tulips", "ep")).toEqual([id]);
    expect(byWords(store, "garden", "ep")).toEqual([id]);
    expect(byWords(store, "tulips")).toEqual([]);
    expect(bySubstring(store, "lanne", "ep")).toEqual([id]);
  });

  it("rank the better match first, and of equal ones the newer", () => {
    const store = openStore();
    const one = store.addMemory(aMemory("umbrella one", { agentId: "a" }), null);
    const two = store.addMemory(aMemory("umbrella two", { agentId: "b" }), null);
    const best = store.addMemory(aMemory("umbrella umbrella", { agentId: "c" }), null);
    expect(byWords(store, "umbrella")).toEqual([best, two, one]);
    for (const hit of store.lexical.searchTerms("mem", ["umbrella"], ALL, null, 9))
      expect(hit.score).toBeGreaterThan(0);
  });

  it("keep to scope and source inside the search, so that limits count visible rows", () => {
    const store = openStore();
    for (let i = 0; i < 5; i++) store.addMemory(aMemory(`umbrella ${i}`, { agentId: "other" }), null);
    const own = store.addMemory(aMemory("umbrella of a long and different text by far"), null);
    expect(store.lexical.searchTerms("mem", ["umbrella"], ofA, null, 1).map((hit) => hit.id)).toEqual([own]);
    // Where others hold nothing, nothing is filtered.
    for (let id = 1; id <= 5; id++) store.deleteMemory(id);
    expect(store.lexical.searchTerms("mem", ["umbrella"], ofA, null, 9).map((hit) => hit.id)).toEqual([own]);
    expect(store.lexical.searchTerms("mem", ["umbrella"], { ...ofA, projectId: "p" }, null, 9)).toHaveLength(
      1,
    );
    expect(store.lexical.searchTerms("mem", ["umbrella"], { ...ofA, channel: "c" }, null, 9)).toHaveLength(1);
    const other = { ...ALL, agentId: "other" };
    expect(store.lexical.searchTerms("mem", ["umbrella"], other, null, 9)).toEqual([]);
    for (let i = 0; i < 5; i++) store.addMemory(aMemory(`umbrella ${i}`, { agentId: "other" }), null);
    const source = { id: "u", exact: false };
    expect(store.lexical.searchTerms("mem", ["umbrella"], ALL, source, 100)).toHaveLength(6);
    expect(store.lexical.searchTerms("mem", ["umbrella"], ALL, { id: "u", exact: true }, 100)).toEqual([]);
  });

  it("take any term as text, never as syntax", () => {
    const store = openStore();
    store.addMemory(aMemory("umbrella"), null);
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary", minLength: 1 }), { minLength: 1, maxLength: 5 }),
        (terms) => {
          const safe = terms.map((term) => term.toWellFormed().replaceAll("\0", " "));
          store.lexical.searchTerms("mem", safe, ALL, null, 5);
          store.lexical.searchSubstrings("mem", safe, ALL, null, 5);
          store.lexical.documentFrequencies(safe);
        },
      ),
    );
    for (const term of ['"', "*", "^", "a:b", "NEAR(", "-", "(", "OR"])
      expect(store.lexical.searchTerms("mem", [term], ALL, null, 5)).toEqual([]);
  });

  const damages: [string, string[]][] = [
    ["lost words of a row", ["DELETE FROM memory_terms WHERE rowid = 1"]],
    ["lost substrings of a row", ["DELETE FROM memory_trigrams WHERE rowid = 1"]],
    ["words of a row that is not there", ["INSERT INTO memory_terms(rowid, terms) VALUES (99, 'ghost')"]],
    ["an emptied index", ["INSERT INTO memory_trigrams(memory_trigrams) VALUES ('delete-all')"]],
    ["lost words of an episode", ["DELETE FROM episode_terms WHERE rowid = 1"]],
  ];
  it.each(damages)("are rebuilt after %s", async (_, statements) => {
    const path = join(tempFolder(), "memory.db");
    const first = openStore(path);
    const ids = ["red umbrella", "blue umbrella", "東京の傘"].map((text) =>
      first.addMemory(aMemory(text), null),
    );
    const episode = first.addEpisode(anEpisode("the umbrella session"), null);
    expect(await first.lexicalRepair.run(Date.now)).toBe(false);
    first.close();
    sql(path, ...statements);
    const store = openStore(path);
    expect(await store.lexicalRepair.run(Date.now)).toBe(true);
    expect(byWords(store, "umbrella")).toEqual([ids[1], ids[0]]);
    expect(bySubstring(store, "mbrell").sort()).toEqual([ids[0], ids[1]]);
    expect(byWords(store, "東京")).toEqual([ids[2]]);
    expect(byWords(store, "umbrella", "ep")).toEqual([episode]);
    expect(byWords(store, "ghost")).toEqual([]);
    expect(await store.lexicalRepair.run(Date.now)).toBe(false);
  });

  const uses: [string, (store: Store) => unknown][] = [
    ["a search for words", (store) => byWords(store, "umbrella")],
    ["a search for substrings", (store) => bySubstring(store, "mbrell")],
    ["a new row", (store) => store.addMemory(aMemory("green umbrella"), null)],
    ["a deletion", (store) => store.deleteMemory(1)],
  ];
  it.each(uses)("are left out by %s that meets garbage in them, and repaired behind it", async (_, use) => {
    const path = join(tempFolder(), "memory.db");
    const first = openStore(path);
    for (let i = 0; i < 200; i++) first.addMemory(aMemory(`red umbrella ${i} in the hall`), null);
    first.close();
    const file = readFileSync(path);
    for (const table of ["memory_terms", "memory_trigrams"])
      for (const { block } of sql(path, `SELECT block FROM ${table}_data WHERE id > 10`)) {
        const at = file.indexOf((block as Uint8Array).subarray(0, 60));
        file.fill(0xff, at + 4, at + 60);
      }
    writeFileSync(path, file);
    const store = openStore(path);
    expect(store.lexical.isComplete()).toBe(true);
    expect(store.lexical.isIntact()).toBe(false);
    use(store);
    expect(store.lexicalRepair.isUnderWay()).toBe(true);
    const late = store.addMemory(aMemory("a late umbrella"), null) as number;
    expect(await store.lexicalRepair.run(Date.now)).toBe(true);
    expect(store.lexicalRepair.isUnderWay()).toBe(false);
    expect(byWords(store, "late")).toEqual([late]);
    expect(byWords(store, "umbrella").length).toBeGreaterThan(99);
    expect(bySubstring(store, "mbrell").length).toBeGreaterThan(99);
    expect(store.lexical.isIntact()).toBe(true);
  });

  it("are repaired by one process at a time, and by the next when that one is done or gone", async () => {
    const path = join(tempFolder(), "memory.db");
    const [ours, theirs] = [openStore(path), openStore(path)];
    const ids = ["red umbrella", "blue umbrella"].map((text) => ours.addMemory(aMemory(text), null));
    const now = (): number => 1_000_000;
    const other = new Lease(theirs.database, theirs.settings, "lexical_repair", now);
    expect(await other.take(15_000)).toBe(true);
    sql(path, "INSERT INTO memory_terms(memory_terms) VALUES ('delete-all')");
    expect(await ours.lexicalRepair.run(now)).toBe(false);
    expect(byWords(ours, "umbrella")).toEqual([]);
    await other.release();
    expect(await ours.lexicalRepair.run(now)).toBe(true);
    expect(byWords(theirs, "umbrella")).toEqual([ids[1], ids[0]]);
  });

  it("say that records may be missing after a repair that ended early, also to other processes", async () => {
    const path = join(tempFolder(), "memory.db");
    const [ours, theirs] = [openStore(path), openStore(path)];
    const id = ours.addMemory(aMemory("red umbrella"), null);
    sql(path, "INSERT INTO memory_terms(memory_terms) VALUES ('delete-all')");
    expect(await ours.lexicalRepair.run(Date.now, { isStopped: () => true })).toBe(true);
    expect(theirs.lexicalRepair.isUnderWay()).toBe(true);
    expect(await theirs.lexicalRepair.run(Date.now)).toBe(true);
    expect(ours.lexicalRepair.isUnderWay()).toBe(false);
    expect(byWords(ours, "umbrella")).toEqual([id]);
  });

  it("never stand in the way of a deletion when they are damaged", () => {
    const path = join(tempFolder(), "memory.db");
    const store = openStore(path);
    const id = store.addMemory(aMemory("red umbrella"), null) as number;
    sql(path, `DELETE FROM memory_terms WHERE rowid = ${id}`);
    store.deleteMemory(id);
    expect(store.memories.get([id], ALL)).toEqual([]);
  });
});

describe("a sample of the newest rows", () => {
  it("is spread evenly over them, newest first", () => {
    const store = openStore();
    for (let i = 1; i <= 20; i++) store.addMemory(aMemory(`note ${i}`), null);
    expect(store.memories.spreadIds(ALL, 4, 20)).toEqual([20, 15, 10, 5]);
    expect(store.memories.spreadIds(ALL, 4, 10)).toEqual([20, 18, 16, 14]);
    expect(store.memories.spreadIds(ALL, 50, 20)).toHaveLength(20);
    expect(store.memories.spreadIds({ ...ALL, agentId: "nobody" }, 4, 20)).toEqual([]);
  });
});

describe("pools", () => {
  const scope = fc.record({
    agentId: fc.constantFrom("a", "b"),
    projectId: fc.constantFrom("", "p", "q"),
    channel: fc.constantFrom("", "c"),
  });
  const axis = (...values: string[]) => fc.option(fc.constantFrom("", ...values), { nil: null });
  const readScope: fc.Arbitrary<ReadScope> = fc.record({
    agentId: fc.option(fc.constantFrom("a", "b", "x"), { nil: null }),
    projectId: axis("p", "q", "x"),
    channel: axis("c", "x"),
  });

  it("count what a scope sees, through any stores and deletions, and lists agree", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(scope, fc.boolean(), fc.boolean()), { maxLength: 25 }),
        readScope,
        (rows, read) => {
          const store = openStore(":memory:");
          let memories = 0;
          let episodes = 0;
          const sees = (row: { agentId: string; projectId: string; channel: string }): boolean =>
            (read.agentId === null || row.agentId === read.agentId) &&
            (read.projectId === null || row.projectId === "" || row.projectId === read.projectId) &&
            (read.channel === null ||
              read.channel === "" ||
              row.channel === "" ||
              row.channel === read.channel);
          for (const [i, [bucket, isEpisode, isDeleted]] of rows.entries()) {
            if (isEpisode) store.addEpisode(anEpisode(`row ${i}`, bucket), null);
            else {
              const id = store.addMemory(aMemory(`row ${i}`, bucket), null) as number;
              if (isDeleted) store.deleteMemory(id);
            }
            if (sees(bucket) && isEpisode) episodes++;
            if (sees(bucket) && !isEpisode && !isDeleted) memories++;
          }
          expect(store.pool(read)).toMatchObject({ memories, episodes });
          expect(store.memories.newest(read, null, 100)).toHaveLength(memories);
          expect(store.episodes.newest(read, 100)).toHaveLength(episodes);
          expect(store.lexical.searchTerms("mem", ["row"], read, null, 100)).toHaveLength(memories);
          store.close();
        },
      ),
      { numRuns: 40 },
    );
  });

  it("name the agents that hold rows, most rows first", () => {
    const store = openStore();
    store.addMemory(aMemory("1", { agentId: "few" }), null);
    for (let i = 0; i < 3; i++) store.addMemory(aMemory(`${i}`, { agentId: "many" }), null);
    const gone = store.addMemory(aMemory("1", { agentId: "none" }), null) as number;
    store.deleteMemory(gone);
    expect(store.agents(10)).toEqual(["many", "few"]);
    expect(store.agents(1)).toEqual(["many"]);
  });

  it("keep their codes apart after a rolled back first write", () => {
    const store = openStore();
    expect(() =>
      store.database.transaction(() => {
        store.addMemory(aMemory("lost", { agentId: "a" }), null);
        throw new Error("rolled back");
      }),
    ).toThrow();
    store.addMemory(aMemory("kept", { agentId: "b" }), null);
    store.addMemory(aMemory("kept", { agentId: "a" }), null);
    expect(store.pool({ ...ALL, agentId: "a" }).memories).toBe(1);
    expect(store.pool({ ...ALL, agentId: "b" }).memories).toBe(1);
  });
});

describe("vectors and their log", () => {
  it("log every change in the order of its commit", () => {
    const store = openStore();
    expect(store.embeddings.lastSequence()).toBe(0);
    const a = store.addMemory(aMemory("a"), anEmbedding([1, 0, 0])) as number;
    const b = store.addEpisode(anEpisode("b"), anEmbedding([0, 1, 0]));
    store.deleteMemory(a);
    expect(store.embeddings.lastSequence()).toBe(3);
    expect(Array.from(store.embeddings.changedAfter(0, 3))).toEqual([
      recordKey("mem", a),
      recordKey("ep", b),
    ]);
    expect(Array.from(store.embeddings.changedAfter(1, 2))).toEqual([recordKey("ep", b)]);
    expect(Array.from(store.embeddings.changedAfter(3, 3))).toEqual([]);
  });

  it("log nothing of a write that was rolled back", () => {
    const store = openStore();
    expect(() =>
      store.database.transaction(() => {
        store.addMemory(aMemory("a"), anEmbedding([1, 0, 0]));
        throw new Error("no");
      }),
    ).toThrow();
    expect(store.embeddings.lastSequence()).toBe(0);
  });

  it("give rows in pages, of one embedder, without damaged ones", () => {
    const path = join(tempFolder(), "memory.db");
    const store = openStore(path);
    const ids = [0, 1, 2, 3, 4].map(
      (i) =>
        store.addMemory(
          aMemory(`row ${i}`, { createdAt: `2026-01-0${i + 1} 00:00:00` }),
          anEmbedding([i, 1, 0]),
        ) as number,
    );
    store.addMemory(aMemory("other model"), anEmbedding([1, 0, 0], "other:model:3"));
    const code = store.embeddings.embedderCode("test:model:3", 3);
    expect(store.embeddings.count(code)).toBe(5);
    sql(
      path,
      `UPDATE embeddings SET vector = x'0000' WHERE record_key = ${recordKey("mem", ids[1] as number)}`,
    );
    const keys: number[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page = store.embeddings.rowsAfter(after, code, 3, 2);
      keys.push(...page.rows.keys);
      after = page.next;
    }
    const kept = ids.filter((_, i) => i !== 1);
    expect(keys).toEqual(kept.map((id) => recordKey("mem", id)));
    const rows = store.embeddings.rowsOf(Float64Array.of(recordKey("mem", ids[2] as number)), code, 3);
    expect(Array.from(rows.vectors)).toEqual([2, 1, 0]);
    expect(rows.times[0]).toBe(Date.parse("2026-01-03T00:00:00Z"));
  });
});
