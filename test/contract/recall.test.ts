// What `recall` promises: by words, by meaning, and what is left out.

import { afterAll, beforeAll, describe, expect } from "vitest";
import { startInProcess } from "../support/client.js";
import { type EmbedStub, startEmbedStub } from "../support/embed-stub.js";
import type { Settings } from "../support/settings.js";
import { ask, put, texts } from "./calls.js";
import { verifies } from "./verifies.js";

let stub: EmbedStub;
beforeAll(async () => {
  stub = await startEmbedStub();
});
afterAll(() => stub.close());

const http = (): Settings => ({ CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: stub.url });

describe("words", () => {
  const queries = [
    ...["", "   ", "!!!", '"', '""', "'", "foo-bar", "don't", "C++", "a.b", "src/x.ts:42", "AND", "OR NOT"],
    ...["NEAR(", "col:x", "^a", "*", "(", "{", "%", "_", "\\", "a AND", '"unbalanced', "terms:a", "\u0001"],
    ...["NOT a", "a*", "-a", "+a", "🎌", "\u200b", "ู", "😀😀😀", "\n\t", "'; DROP TABLE memories; --"],
  ];
  verifies("words.no-query-syntax", "a list of odd queries", async () => {
    const tools = await startInProcess();
    await put(tools, "foo-bar in C++ at src/x.ts:42, don't use a.b");
    for (const query of queries) {
      const answer = await tools.call("recall", { agent_id: "agent-a", query });
      expect([query, answer["error"]]).toEqual([query, undefined]);
    }
    for (const query of ["foo-bar", "C++", "a.b", "src/x.ts:42"])
      expect([query, await texts(tools, query)]).toEqual([query, [expect.any(String)]]);
  });

  const notes = "東京出張の設備一覧(devices)はNASに保存。서울 회의, ห้องประชุม, ﾃｽﾄ環境はＡｌｐｈａ";
  for (const query of [
    ...["東京", "設備", "NAS", "nas", "出張", "一覧", "保存", "devices", "ＮＡＳ", "서울", "회의", "ห้อง"],
    ...["テスト", "ﾃｽﾄ", "alpha", "京", "東京 いつ", "東京の出張について教えて"],
  ]) {
    verifies("words.short-cjk", query, async () => {
      const tools = await startInProcess();
      await put(tools, notes);
      expect(await texts(tools, query)).toEqual([notes]);
    });
  }

  verifies("words.unrelated-is-empty", async () => {
    for (const settings of [{}, http()]) {
      const tools = await startInProcess({ settings });
      await put(tools, "the umbrella is in the hall");
      await put(tools, "会議は月曜の朝です");
      for (const query of ["zebra crossing", "xyzzy", "しまうま"])
        expect([query, await texts(tools, query)]).toEqual([query, []]);
    }
    const byWords = await startInProcess();
    await put(byWords, "the umbrella is in the hall");
    await put(byWords, "会議は月曜の朝です");
    for (const query of ["what is the zebra", "where is it", "これはどこにあるのですか"])
      expect([query, await texts(byWords, query)]).toEqual([query, []]);
  });

  verifies("bounds.query", async () => {
    const tools = await startInProcess();
    await put(tools, "umbrella");
    const long = `umbrella ${"lorem ipsum dolor ".repeat(10_000)}`.slice(0, 100_000);
    expect(await texts(tools, long)).toEqual(["umbrella"]);
    expect(await tools.call("recall", { query: "x".repeat(100_001) })).toEqual({
      ok: false,
      error: "query must be a text of at most 100000 characters",
    });
  });
});

describe("meaning", () => {
  verifies("meaning.without-common-words", async () => {
    const tools = await startInProcess({ settings: http() });
    await put(tools, "my automobile is green");
    // Rows of the same minutes would come along as neighbours.
    tools.clock.advance(3_600_000);
    await put(tools, "tulips need water");
    const rows = await ask(tools, "car");
    expect(rows.map((row) => row["content"])).toEqual(["my automobile is green"]);
    expect(rows[0]?.["match_reason"]).toMatchObject({ signal: "cosine", cosine: expect.any(Number) });
  });

  verifies("meaning.fresh-rows", async () => {
    const tools = await startInProcess({ settings: http() });
    for (let i = 0; i < 5; i++) {
      await put(tools, `automobile number ${i}`);
      expect(await texts(tools, "car")).toHaveLength(i + 1);
    }
  });

  verifies("meaning.embedder-down", async () => {
    const tools = await startInProcess({ settings: http() });
    await put(tools, "my automobile is green");
    stub.status = 500;
    try {
      const answer = await tools.call("recall", { agent_id: "agent-a", query: "green automobile" });
      expect(answer["messages"]).toHaveLength(1);
      expect(answer["advisory"]).toMatchObject({ degraded: true, severity: "fault" });
      expect(answer["advisory"].reason).toMatch(/unavailable/);
    } finally {
      stub.status = 200;
    }
    const off = await startInProcess();
    const hint = await off.call("recall", { query: "x" });
    expect(hint["advisory"]).toMatchObject({ degraded: true, severity: "hint" });
    const on = await startInProcess({ settings: http() });
    expect(await on.call("recall", { query: "x" })).not.toHaveProperty("advisory");
  });

  verifies("meaning.store-without-vector", async () => {
    const tools = await startInProcess({ settings: http() });
    stub.status = 500;
    try {
      const answer = await tools.call("store", { agent_id: "agent-a", content: "my automobile is green" });
      expect(answer).toMatchObject({ ok: true, result: "stored", embedded: false });
    } finally {
      stub.status = 200;
    }
    expect(await texts(tools, "green automobile")).toEqual(["my automobile is green"]);
    const next = await tools.call("store", { agent_id: "agent-a", content: "my bicycle is red" });
    expect(next).toMatchObject({ embedded: true });
  });
});

describe("order and number", () => {
  verifies("order.best-is-last", "a row with all words behind rows with one", async () => {
    const tools = await startInProcess();
    await put(tools, "red bicycle in the garage");
    await put(tools, "red paint");
    await put(tools, "bicycle chain");
    expect((await texts(tools, "red bicycle")).at(-1)).toBe("red bicycle in the garage");
  });

  verifies("ties.newer-row-wins", async () => {
    const tools = await startInProcess();
    for (const name of ["alpha", "bravo", "delta"]) await put(tools, `umbrella of ${name}`);
    expect(await texts(tools, "umbrella")).toEqual([
      "umbrella of alpha",
      "umbrella of bravo",
      "umbrella of delta",
    ]);
    expect(await texts(tools, "", { limit: 2 })).toEqual(["umbrella of bravo", "umbrella of delta"]);
  });

  verifies("recall.empty-query", async () => {
    const tools = await startInProcess({ settings: http() });
    for (let i = 0; i < 4; i++) {
      await put(tools, `note ${i}`);
      tools.clock.advance(1000);
    }
    for (const query of ["", "  \n\u3000"])
      expect(await texts(tools, query, { limit: 3 })).toEqual(["note 1", "note 2", "note 3"]);
    for (const row of await ask(tools, "")) expect(row).not.toHaveProperty("match_reason");
  });

  verifies("recall.limit", async () => {
    const tools = await startInProcess();
    for (let i = 0; i < 12; i++) await put(tools, `umbrella ${i}`);
    expect(await texts(tools, "umbrella", { limit: 3 })).toHaveLength(3);
    expect(await texts(tools, "umbrella", { limit: 100 })).toHaveLength(12);
    expect(await texts(tools, "umbrella", { limit: undefined })).toHaveLength(10);
    expect(await texts(tools, "umbrella", { limit: 0 })).toEqual([]);
    expect(await texts(tools, "", { limit: 0 })).toEqual([]);
    for (const limit of [-1, 101, 1.5])
      expect(await tools.call("recall", { query: "x", limit })).toEqual({
        ok: false,
        error: "limit must be a whole number from 0 to 100",
      });
  });

  verifies("recall.row-keys", async () => {
    const tools = await startInProcess();
    await put(tools, "umbrella", { id: "m1", timestamp: "2026-01-02", source: { type: "User", id: "u" } });
    await put(tools, "parasol", { source: {} });
    const [full] = await ask(tools, "umbrella");
    expect(full).toEqual({
      content: "umbrella",
      ref: "mem:1",
      source: { type: "User", id: "u" },
      timestamp: "2026-01-02",
      id: "m1",
      match_reason: { signal: "rrf", score: expect.any(Number), rrf: expect.any(Number) },
    });
    const [bare] = await ask(tools, "parasol");
    expect(Object.keys(bare ?? {}).sort()).toEqual(["content", "match_reason", "ref", "timestamp"]);
  });

  verifies("ref.on-every-row", async () => {
    const tools = await startInProcess();
    const id = await put(tools, "umbrella");
    for (const query of ["umbrella", ""])
      expect((await ask(tools, query)).map((row) => row["ref"])).toEqual([`mem:${id}`]);
  });
});

describe("source_id", () => {
  const ids = ["discord:1", "discord:12", "discord:2", "Discord:1", "slack:1", "a%", "a_b"];
  for (const [sourceId, expected] of [
    ["discord:1", ["discord:1"]],
    ["slack:1", ["slack:1"]],
    ["discord", []],
    ["a", []],
  ] as const)
    verifies("source-id.exact", sourceId, async () => {
      expect(await found(sourceId)).toEqual(expected);
    });
  for (const [sourceId, expected] of [
    ["discord:", ["discord:1", "discord:12", "discord:2"]],
    ["a%", ["a%"]],
    ["a_", ["a_b"]],
    ["none:", []],
    ["", ids],
  ] as const)
    verifies("source-id.prefix", JSON.stringify(sourceId), async () => {
      expect(await found(sourceId)).toEqual([...expected].sort());
    });

  /** Source ids of the rows that a query by words, and one by nothing, give for the filter. */
  async function found(sourceId: string): Promise<string[]> {
    const tools = await startInProcess({ settings: http() });
    for (const id of ids) await put(tools, `umbrella by ${id}`, { source: { type: "User", id } });
    await put(tools, "umbrella by nobody", { source: { type: "User", id: "discord" } }).catch(() => 0);
    await tools.call("delete_memory", { agent_id: "agent-a", memory_id: ids.length + 1 });
    const idsOf = (rows: Awaited<ReturnType<typeof ask>>) => rows.map((row) => row["source"].id).sort();
    const byWords = idsOf(await ask(tools, "umbrella", { source_id: sourceId }));
    expect(idsOf(await ask(tools, "", { source_id: sourceId }))).toEqual(byWords);
    return byWords;
  }
});

describe("exclude_contents", () => {
  const of = (chars: number) => "umbrella-stand-in-the-long-hall-of-the-house".repeat(3).slice(0, chars);
  const cases: [string, string, string, boolean][] = [
    ["an equal short text", "umbrella", "umbrella", true],
    ["another case and blanks around", "Umbrella", "  uMBRELLA \n", true],
    ["a short entry that is a prefix", "umbrella stand", "umbrella", false],
    ["an entry of 31 that is a prefix", of(40), of(31), false],
    ["an entry of 32 that is a prefix", of(40), of(32), true],
    ["a row that is a prefix of an entry of 32", of(10), of(32), true],
    ["a row that is a prefix of an entry of 31", of(10), of(31), false],
    ["an unrelated entry", of(40), `x${of(40)}`, false],
  ];
  for (const [name, row, entry, excluded] of cases)
    verifies("exclude.prefix-from-32", name, async () => {
      const tools = await startInProcess();
      await put(tools, row);
      for (const query of ["umbrella", ""])
        expect(await texts(tools, query, { exclude_contents: [entry] })).toEqual(
          excluded ? [] : [row.trim()],
        );
    });

  verifies("exclude.prefix-from-32", "lengths are characters, not UTF-16 units", async () => {
    const tools = await startInProcess();
    const flags = "🎌".repeat(40);
    await put(tools, flags);
    expect(await texts(tools, "", { exclude_contents: ["🎌".repeat(31)] })).toEqual([flags]);
    expect(await texts(tools, "", { exclude_contents: ["🎌".repeat(32)] })).toEqual([]);
  });

  verifies("exclude.equal-text", "blank entries exclude nothing", async () => {
    const tools = await startInProcess();
    await put(tools, "umbrella");
    expect(await texts(tools, "umbrella", { exclude_contents: ["", "  "] })).toEqual(["umbrella"]);
  });

  verifies("exclude.does-not-cost-rows", async () => {
    const tools = await startInProcess({ settings: http() });
    const all = Array.from({ length: 12 }, (_, i) => `umbrella number ${i}`);
    for (const text of all) await put(tools, text);
    const seen: string[] = [];
    for (let page = 0; page < 4; page++) {
      const rows = await texts(tools, "umbrella", { limit: 3, exclude_contents: seen });
      expect(rows).toHaveLength(3);
      seen.push(...rows);
    }
    expect(seen.sort()).toEqual([...all].sort());
  });
});
