import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldText } from "../../../ts/text/normalise.js";
import { indexTerms, isPrefixTerm, queryTerms, substringTerms } from "../../../ts/text/tokenise.js";

const content = (query: string): string[] =>
  queryTerms(query)
    .filter((term) => term.content)
    .map((term) => term.text);

describe("indexTerms", () => {
  it.each([
    ["Running marathons", ["run", "marathon"]],
    ["Café Ünïcode", ["cafe", "unicod"]],
    ["ＡＰＩ", ["api"]],
    ["E4021", ["e4021"]],
    ["don't", ["don"]],
    ["Kei's", ["kei"]],
  ])("folds and stems '%s'", (text, terms) => {
    expect(indexTerms(text)).toEqual(expect.arrayContaining(terms));
  });

  it.each([
    ["東京", ["東京", "京"]],
    ["東京都", ["東京", "京都", "都"]],
    ["ｶﾞﾁｬ", ["ガチ", "チャ", "ャ"]],
    ["サーバー", ["サー", "ーバ", "バー", "ー"]],
    ["서울에서", ["서울", "울에", "에서", "서"]],
    ["字", ["字"]],
    ["𠮷野", ["𠮷野", "野"]],
  ])("pairs the characters of '%s'", (text, terms) => {
    expect(indexTerms(text)).toEqual(terms);
  });

  it.each([
    ["parse_header", ["pars", "header", "parse_header"]],
    ["MemoryIndexBuilder", ["memori", "index", "builder", "memoryindexbuild"]],
    ["rebuildAll", ["rebuild", "rebuildal"]],
    ["src/parser/lexer.ts:42", ["parser", "lexer", "ts", "42", "src/parser/lexer.ts:42"]],
    ["v1.2.3", ["v1", "2", "3", "v1.2.3"]],
    ["HTTPServer2", ["http", "server", "httpserver2"]],
    ["C++", ["c", "c++"]],
    ["検索engine精度", ["検索", "engin", "精度"]],
  ])("gives parts and whole of '%s'", (text, terms) => {
    const found = indexTerms(text);
    for (const term of terms) expect(found).toContain(term);
  });

  it("repeats a term as often as it occurs", () => {
    expect(indexTerms("umbrella, Umbrella; UMBRELLA")).toEqual(["umbrella", "umbrella", "umbrella"]);
  });

  it("cuts ASCII the same with and without its short way", () => {
    const text = fc.string({ unit: fc.constantFrom(..."aBcZ019_.-/:@#'+&\\ ,()"), maxLength: 60 });
    fc.assert(
      fc.property(text, (text) => {
        expect(indexTerms(text)).toEqual(indexTerms(`${text} 々`).slice(0, -1));
      }),
    );
  });

  it("gives nothing for blanks and punctuation", () => {
    for (const text of ["", " \n", "!!!", "。、「」", "🎌🎌"]) expect(indexTerms(text)).toEqual([]);
  });

  it("gives terms without blanks, of at most 64 characters, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        for (const term of indexTerms(text.toWellFormed())) {
          expect(term).not.toMatch(/\s/u);
          expect(Array.from(term).length).toBeLessThanOrEqual(64);
          expect(term).not.toBe("");
        }
      }),
    );
    expect(indexTerms("x".repeat(1000))).toEqual(["x".repeat(64)]);
  });

  it("finds every text by its own terms, whatever its width and case", () => {
    const text = fc.string({
      unit: fc.constantFrom(..."aBz09_.東京サｶﾞ한글 ＡÉ") as fc.Arbitrary<string>,
      maxLength: 30,
    });
    fc.assert(
      fc.property(text, (text) => {
        const stored = new Set(indexTerms(text));
        for (const { text: term } of queryTerms(text)) {
          const found = isPrefixTerm(term) ? [...stored].some((s) => s.startsWith(term)) : stored.has(term);
          expect([term, found]).toEqual([term, true]);
        }
      }),
    );
  });
});

describe("queryTerms", () => {
  it("tells words that carry content from those that do not", () => {
    expect(content("what is the umbrella of Kei")).toEqual(["umbrella", "kei"]);
    expect(content("東京はどこですか")).toContain("東京");
    expect(content("これはどこですか")).toEqual([]);
    expect(content("go to Go")).toEqual(["go"]);
    expect(content("42")).toEqual(["42"]);
  });

  it("names each term once", () => {
    const terms = queryTerms("run running RUN 東京東京").map((term) => term.text);
    expect(new Set(terms).size).toBe(terms.length);
  });

  it("asks for a prefix with a lone character of a script without blanks", () => {
    expect(queryTerms("京").map((term) => term.text)).toEqual(["京"]);
    expect(isPrefixTerm("京")).toBe(true);
    expect(isPrefixTerm("a")).toBe(false);
    expect(isPrefixTerm("東京")).toBe(false);
  });
});

describe("substringTerms", () => {
  it("holds folded stretches of three and more characters", () => {
    expect(substringTerms("the IndexBuil of ab 東京都 Ｅ４０２１")).toEqual(["indexbuil", "東京都", "e4021"]);
  });
});

describe("foldText", () => {
  it("is the same for every width and case of a text", () => {
    expect(foldText("ＡＰＩキー")).toBe(foldText("apiｷｰ"));
    expect(foldText("ÉCOLE")).toBe(foldText("école"));
  });
});
