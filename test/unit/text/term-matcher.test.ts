import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TermMatcher } from "../../../ts/text/term-matcher.js";
import { indexTerms, isPrefixTerm, queryTerms } from "../../../ts/text/tokenise.js";

describe("TermMatcher", () => {
  const words = fc.constantFrom(
    "happy",
    "happily",
    "Running",
    "ran",
    "agreed",
    "agree",
    "recallGate",
    "foo-bar_baz",
    "v1.2.3",
    "don't",
    "Café",
    "ＡＰＩ",
    "go",
    "cat",
    "education",
    "東京",
    "東京都",
    "京都",
    "ガス",
    "ｶﾞｽ",
    "서울에서",
    "サーバー",
    "字",
    "sky",
    "skies",
    "Привет",
    "sensibility",
    "relational",
    "E4021",
    "İstanbul",
    "𠮷野",
    "a",
    "the",
  );
  const text = fc
    .array(fc.tuple(words, fc.constantFrom(" ", ". ", "\n", "", "、")), { maxLength: 12 })
    .map((pairs) => pairs.flat().join(""));

  it("finds exactly the terms that the index holds for a text", () => {
    fc.assert(
      fc.property(text, text, (query, stored) => {
        const terms = queryTerms(query).map((term) => term.text);
        const held = indexTerms(stored);
        const expected = terms.filter(
          (term) =>
            held.includes(term) || (isPrefixTerm(term) && held.some((other) => other.startsWith(term))),
        );
        expect([...new TermMatcher(terms).match(stored)].sort()).toEqual(expected.sort());
      }),
      { numRuns: 500 },
    );
  });

  it("finds stretches inside longer words", () => {
    expect([...new TermMatcher([], ["4021"]).match("code E40219")]).toEqual(["4021"]);
  });
});
