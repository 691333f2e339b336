import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../../ts/config.js";
import { calibratedCosine, type EmbedderCard, identityKey } from "../../../ts/embedding/embedder.js";
import { openEmbedder } from "../../../ts/embedding/open-embedder.js";
import { MemoryError } from "../../../ts/errors.js";
import { twinCore } from "../../../ts/native/twin/core.js";
import type { EmbeddingConfig } from "../../../ts/settings/embedding.js";

const clock = { now: () => 0 };

function open(
  overrides: Partial<EmbeddingConfig> = {},
  core = { openStaticTable: twinCore.openStaticTable },
) {
  return openEmbedder({ ...readConfig({}).embedding, ...overrides }, { core, clock });
}

function card(unrelatedCosine: number | null): EmbedderCard {
  return { fusionWeight: 1, centre: null, unrelatedCosine, languages: null, isContextual: false };
}

describe("the calibrated cosine", () => {
  it("is the raw one for embedders whose unrelated texts lie below 0.4 or are unknown", () => {
    for (const raw of [-1, 0, 0.3, 1]) {
      expect(calibratedCosine(card(0.1), raw)).toBe(raw);
      expect(calibratedCosine(card(0.399), raw)).toBe(raw);
      expect(calibratedCosine(card(null), raw)).toBe(raw);
    }
  });

  it("takes the unrelated median to 0.4, 1 to 1, on a straight line", () => {
    expect(calibratedCosine(card(0.78), 0.78)).toBeCloseTo(0.4, 12);
    expect(calibratedCosine(card(0.78), 1)).toBe(1);
    expect(calibratedCosine(card(0.78), 0.89)).toBeCloseTo(0.7, 12);
    expect(calibratedCosine(card(0.4), 0.25)).toBeCloseTo(0.25, 12);
  });

  it("keeps the order of cosines", () => {
    const cosine = fc.double({ min: -1, max: 1, noNaN: true });
    const level = fc.double({ min: 0.4, max: 0.99, noNaN: true });
    fc.assert(
      fc.property(level, cosine, cosine, (unrelated, a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        const made = card(unrelated);
        expect(calibratedCosine(made, low)).toBeLessThanOrEqual(calibratedCosine(made, high));
      }),
    );
  });
});

describe("an identity's key", () => {
  it("tells models, dimensions and prefixes apart", () => {
    const base = { provider: "http", model: "m", dimension: 2, prefixes: { query: "", document: "" } };
    expect(identityKey(base)).toBe("http:m:2");
    expect(identityKey({ ...base, model: "" })).toBe("http::2");
    expect(identityKey({ ...base, prefixes: { query: "query: ", document: "" } })).toBe(
      'http:m:2:["query: ",""]',
    );
  });
});

describe("the static embedder", () => {
  it("embeds with the packaged table", async () => {
    const embedder = open();
    expect(embedder.state()).toEqual({ status: "unknown" });
    const [question, text, foreign] = await embedder.embedDocuments([
      "where does she live?",
      "She lives in Tokyo.",
      "\u0e01\u0e02",
    ]);
    expect(embedder.state()).toEqual({ status: "ready" });
    expect(foreign).toBeNull();
    expect(await embedder.embedQuery("where does she live?")).toEqual(question);
    expect(await embedder.embedQuery("")).toBeNull();
    expect(Math.hypot(...(text ?? []))).toBeCloseTo(1, 5);
    // A view of the whole batch would keep it alive.
    expect(text?.buffer.byteLength).toBe(384 * 4);
    expect(embedder.identity()).toMatchObject({ provider: "static", dimension: 384 });
    expect(embedder.identity()?.model).toMatch(/^static-multilingual-[0-9a-f]{8}$/);
    expect(embedder.card).toMatchObject({
      fusionWeight: 0.5,
      unrelatedCosine: 0.78,
      languages: ["en", "ja"],
    });
    expect(embedder.card.centre).toHaveLength(384);
  });

  it("has no vector for text whose words the table does not know", async () => {
    const known = [
      "日本語の文",
      "カタカナー",
      "ﾊﾝｶｸ",
      "naïve café",
      "2024-01-02",
      "Docker и TypeScript",
      "東京 서울",
    ];
    const unknown = [
      "",
      " ",
      "안녕하세요, 세계!",
      "Привет, мир 2024.",
      "ก ข ค",
      "\u{1f600} \u{1f600}\u{1f600}",
      "ναι: x",
    ];
    const vectors = await open().embedDocuments([...known, ...unknown]);
    expect(vectors.map((vector) => vector !== null)).toEqual([
      ...known.map(() => true),
      ...unknown.map(() => false),
    ]);
  });

  it("embeds many texts in their order", async () => {
    const embedder = open();
    const texts = Array.from({ length: 150 }, (_, i) => `text number ${i}`);
    const vectors = await embedder.embedDocuments(texts);
    expect(vectors).toHaveLength(150);
    for (const i of [0, 63, 64, 149]) expect(vectors[i]).toEqual(await embedder.embedQuery(texts[i] ?? ""));
  });

  it("opens its table once, with the first text", async () => {
    let opened = 0;
    const openStaticTable = (path: string) => {
      opened++;
      return twinCore.openStaticTable(path);
    };
    const embedder = open({ fusionWeight: 0.75 }, { openStaticTable });
    expect(embedder.card.fusionWeight).toBe(0.75);
    expect(opened).toBe(0);
    await Promise.all([embedder.embedQuery("a"), embedder.embedQuery("b")]);
    embedder.identity();
    expect(opened).toBe(1);
  });

  it("says that its table is missing, and recovers when it appears", async () => {
    let isMissing = true;
    const openStaticTable = (path: string) => {
      if (isMissing) throw new MemoryError("embedding_failed", "the static token table cannot be read");
      return twinCore.openStaticTable(path);
    };
    const embedder = open({}, { openStaticTable });
    await expect(embedder.embedQuery("a")).rejects.toMatchObject({ code: "embedding_failed" });
    expect(embedder.identity()).toBeNull();
    expect(embedder.card.centre).toBeNull();
    expect(embedder.state()).toEqual({
      status: "failing",
      reason: "misconfigured",
      detail: "the static token table cannot be read",
    });
    isMissing = false;
    await expect(embedder.embedQuery("a")).resolves.not.toBeNull();
    expect(embedder.state()).toEqual({ status: "ready" });
  });

  it("rejects after close", async () => {
    const embedder = open();
    embedder.close();
    await expect(embedder.embedQuery("a")).rejects.toMatchObject({ code: "embedding_failed" });
  });
});

describe("opening an embedder", () => {
  it("gives no vectors in mode none", async () => {
    const embedder = open({ mode: "none" });
    expect(await embedder.embedQuery("a")).toBeNull();
    expect(await embedder.embedDocuments(["a", "b"])).toEqual([null, null]);
    expect(embedder.state()).toEqual({ status: "off" });
    expect(embedder.identity()).toBeNull();
    embedder.close();
  });

  it("starts with a missing address, and says so", () => {
    const embedder = open({ mode: "http" });
    expect(embedder.state()).toMatchObject({ status: "failing", reason: "misconfigured" });
    expect(embedder.card.fusionWeight).toBe(0.5);
  });
});
