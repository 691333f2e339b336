import { describe, expect, it } from "vitest";
import { CONNECTING, SMALL_TALK } from "../../../bench/quality/ambient-corpus.mjs";
import { openTestMemory } from "../../support/memory.js";
import { sql } from "../../support/store.js";

const STATIC = { settings: { CPERSONA_EMBEDDING_MODE: "static" } };
const NOTES = [
  "the parser rewrite landed on staging in march",
  "the garden needs tulips and fresh soil",
  "invoices are paid on the last friday of the month",
  "the red bicycle needs a new chain",
];

async function withNotes(options = STATIC) {
  const memory = await openTestMemory(options);
  for (const content of NOTES) await memory.service.store({ content });
  const ask = (query: string, more = {}) => memory.service.ambient.recall({ query, ...more });
  const rows = async (query: string, more = {}) =>
    (await ask(query, more)).direct.map(({ row }) => (row.kind === "mem" ? row.memory.content : ""));
  return { ...memory, ask, rows };
}

describe("the gate", () => {
  it("works from the first memory on", async () => {
    const { service } = await openTestMemory(STATIC);
    await service.store({ content: "the boiler's service code is 2580" });
    expect((await service.ambient.recall({ query: "what was the boiler code?" })).direct).toHaveLength(1);
    expect((await service.ambient.recall({ query: "make the button blue please" })).direct).toHaveLength(0);
  });

  it("stays closed for what the store does not know, for small talk, and for connecting prompts alone", async () => {
    const { ask } = await withNotes();
    for (const query of [
      "zorblat quixnar vemdlo",
      "convert this bash loop to python",
      ...SMALL_TALK,
      ...CONNECTING,
    ])
      expect((await ask(query)).text).toBe("(関連する記憶なし)");
  });

  it("opens a connecting prompt through history", async () => {
    const { rows } = await withNotes();
    const history = ["when did the parser rewrite land on staging?"];
    expect(await rows("continue with the next step", { history })).toEqual([NOTES[0]]);
    expect(await rows("thanks, that is great", { history })).toEqual([]);
  });

  it("takes min_score as a floor and min_chars on the composed text", async () => {
    const { ask, rows } = await withNotes();
    expect((await ask("parser rewrite staging", { minScore: 0.999 })).text).toBe("(関連する記憶なし)");
    expect(await rows("red bicycle", { minChars: 12 })).toEqual([]);
    expect(await rows("red bicycle", { minChars: 12, history: ["bicycle shop"] })).toEqual([NOTES[3]]);
  });

  it("opens for identifiers without an embedder", async () => {
    const { service } = await openTestMemory();
    await service.store({ content: "error E4021 means the signing key has expired" });
    await service.store({ content: "lunch is at noon" });
    const { direct } = await service.ambient.recall({
      query: "the deploy job died with E4021 this morning again",
    });
    expect(direct).toHaveLength(1);
  });
});

describe("excluded tags", () => {
  it("hold for every slot, reasons and contradictions among them, by substring", async () => {
    const { service, ask, rows } = await withNotes();
    const tagged = { tags: ["smoke-test"] };
    const hidden = await service.store({ content: "parser rewrite rehearsal placeholder", ...tagged });
    await service.store({ content: "parser rewrites are an intention", kind: "intention", ...tagged });
    await service.store({
      content: "parser rewrite decision is final",
      relations: [
        { type: "derived_from", ref: `mem:${hidden.id}` },
        { type: "contradicts", ref: `mem:${hidden.id}` },
      ],
    });
    const open = (await ask("parser rewrite decision", { directK: 4 })).text;
    expect(open).toContain("← because parser rewrite rehearsal");
    expect(open).toContain("⇔ contradicts: parser rewrite rehearsal");
    const closed = (await ask("parser rewrite decision", { directK: 4, excludeTags: ["smoke"] })).text;
    expect(closed).toContain("decision is final");
    expect(closed).not.toMatch(/rehearsal|intention|⇔|because/);
    expect(await rows("parser rewrite rehearsal placeholder", { excludeTags: ["smoke-test"] })).not.toContain(
      "parser rewrite rehearsal placeholder",
    );
  });

  it("do not use up places", async () => {
    const { service, rows } = await withNotes();
    for (let i = 0; i < 250; i++)
      await service.store({ content: `harbour crane schedule number ${i}`, tags: ["noise"] });
    await service.store({ content: "the harbour crane schedule is kept by Ines" });
    expect(await rows("harbour crane schedule", { excludeTags: ["noise"] })).toEqual([
      "the harbour crane schedule is kept by Ines",
    ]);
  });
});

describe("relations", () => {
  it("are declared once, removed once, and only between visible rows", async () => {
    const { service } = await withNotes();
    const relate = (remove = false) => service.ambient.relate("mem:1", "mem:2", "supports", { remove });
    expect([await relate(), await relate(), await relate(true), await relate(true)]).toEqual([
      "added",
      "exists",
      "removed",
      "absent",
    ]);
    await expect(service.ambient.relate("mem:1", "mem:99", "supports")).rejects.toThrow(
      "to_ref names no record",
    );
    await expect(service.ambient.relate("mem:1", "mem:1", "supports")).rejects.toThrow("the same record");
    await expect(
      service.ambient.relate("mem:1", "mem:2", "supports", { agentId: "other" }),
    ).rejects.toThrow();
  });

  it("go with either end", async () => {
    const { service, path } = await withNotes();
    await service.ambient.relate("mem:1", "mem:2", "supports");
    await service.ambient.relate("mem:3", "mem:1", "relates_to");
    await service.deleteMemory(1);
    expect(sql(path, "SELECT * FROM relations")).toEqual([]);
  });

  it("a bad one refuses the write that declares it", async () => {
    const { service } = await withNotes();
    const relations = [{ type: "supports" as const, ref: "mem:99" }];
    await expect(service.store({ content: "unheard of", relations })).rejects.toThrow("relations[0].ref");
    expect(service.listMemories()).toHaveLength(4);
  });

  it("put the successor in the place of a superseded row, through chains", async () => {
    const { service, ask } = await withNotes();
    const second = await service.store({
      content: "the rewrite was taken back in april",
      relations: [{ type: "supersedes", ref: "mem:1" }],
    });
    await service.store({
      content: "it is live again since may",
      relations: [{ type: "supersedes", ref: `mem:${second.id}` }],
    });
    const { text } = await ask("when did the parser rewrite land on staging", { directK: 1 });
    expect(text).toContain("supersedes mem:1] it is live again since may");
    expect(text).not.toContain("landed on staging in march");
  });

  it("survive circles", async () => {
    const { service, ask } = await withNotes();
    await service.ambient.relate("mem:1", "mem:2", "supersedes");
    await service.ambient.relate("mem:2", "mem:1", "supersedes");
    expect((await ask("when did the parser rewrite land on staging", { directK: 1 })).direct).toHaveLength(1);
  });

  it("bring linked rows in through the lens", async () => {
    const { service, ask } = await withNotes();
    await service.ambient.relate("mem:1", "mem:2", "relates_to");
    const { lensing } = await ask("when did the parser rewrite land on staging");
    expect(lensing.map(({ key }) => key)).toEqual([4]);
    expect(lensing[0]?.gap).toBeGreaterThan(0.05);
  });
});

describe("passive and counted use", () => {
  it("an ambient call changes nothing that ranks and counts nothing", async () => {
    const { service, ask, path } = await withNotes();
    const before = await ask("parser rewrite staging");
    for (let i = 0; i < 5; i++) expect(await ask("parser rewrite staging")).toEqual(before);
    await service.ambient.uses.flush();
    expect(sql(path, "SELECT * FROM uses")).toEqual([]);
    expect(sql(path, "SELECT * FROM co_uses")).toEqual([]);
  });

  it("an active recall counts the rows shown, opening counts more, and pairs are kept", async () => {
    const { service, path } = await withNotes();
    await service.recall({ query: "red bicycle chain, garden soil" });
    service.getContents(["mem:2"]);
    await service.ambient.uses.flush();
    const counts = sql(path, "SELECT record_key, recall_count FROM uses ORDER BY record_key");
    expect(counts).toContainEqual({ record_key: 4, recall_count: 3 });
    expect(counts).toContainEqual({ record_key: 8, recall_count: 1 });
    expect(sql(path, "SELECT low_key, high_key, weight FROM co_uses")).toContainEqual({
      low_key: 4,
      high_key: 8,
      weight: 1,
    });
  });

  it("weights of pairs stay bounded and fade", async () => {
    const { service, clock, path } = await withNotes();
    for (let i = 0; i < 400; i++) service.getContents(["mem:1", "mem:2"]);
    await service.ambient.uses.flush();
    expect(Number(sql(path, "SELECT weight FROM co_uses")[0]?.["weight"])).toBeLessThanOrEqual(8);
    clock.advance(30 * 86_400_000);
    service.getContents(["mem:1", "mem:2"]);
    await service.ambient.uses.flush();
    expect(Number(sql(path, "SELECT weight FROM co_uses")[0]?.["weight"])).toBeLessThan(6);
  });
});

describe("novelty", () => {
  it("damps what a session was shown, and never hides it", async () => {
    const { service, rows } = await withNotes();
    await service.store({ content: "the parser rewrite on staging broke imports" });
    const query = "parser rewrite staging";
    const session = { directK: 1, sessionKey: "s1" };
    const [first] = await rows(query, session);
    await service.ambient.uses.flush();
    const [second] = await rows(query, session);
    await service.ambient.uses.flush();
    expect(second).not.toBe(first);
    expect(await rows(query, { directK: 1, sessionKey: "s2" })).toEqual([first]);
    expect(await rows("red bicycle chain", session)).toHaveLength(1);
    await service.ambient.uses.flush();
    expect(await rows("red bicycle chain", session)).toHaveLength(1);
  });

  it("takes the caller's own counts", async () => {
    const { service, rows } = await withNotes();
    await service.store({ content: "the parser rewrite on staging broke imports" });
    const [first] = await rows("parser rewrite staging", { directK: 1 });
    const shown = { [first === NOTES[0] ? "mem:1" : "mem:5"]: 3 };
    const [second] = await rows("parser rewrite staging", { directK: 1, recentlySurfaced: shown });
    expect(second).not.toBe(first);
  });
});

describe("store", () => {
  it("keeps kind and tags, and refuses too many", async () => {
    const { service } = await openTestMemory();
    await service.store({ content: "one", kind: "value", tags: [" a ", "a", "b"] });
    expect(service.listMemories()[0]).toMatchObject({ kind: "value", tags: ["a", "b"] });
    const tags = Array.from({ length: 33 }, (_, i) => `t${i}`);
    await expect(service.store({ content: "two", tags })).rejects.toThrow("tags must be at most 32");
    await expect(service.store({ content: "two", tags: ["x".repeat(65)] })).rejects.toThrow("tags[0]");
  });

  it("does not take a recalled block for something that was said", async () => {
    const { service, ask } = await withNotes();
    const { text } = await ask("when did the parser rewrite land on staging");
    await expect(service.store({ content: text })).rejects.toThrow("must not be empty");
    await service.store({ content: `before\n${text}\nafter` });
    expect(service.listMemories()[0]?.content).toBe("before\n\nafter");
  });
});
