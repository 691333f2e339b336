import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countChars, graphemeStart, sliceChars } from "../../../ts/text/characters.js";
import { MAX_SENTENCE_CHARS, splitSentences } from "../../../ts/text/sentences.js";

const spans = (text: string, maxChars?: number): [number, number][] =>
  splitSentences(text, maxChars).map(({ start, end }) => [start, end]);
const parts = (text: string, maxChars?: number): string[] =>
  spans(text, maxChars).map(([start, end]) => sliceChars(text, start, end));

describe("splitSentences", () => {
  // Golden vectors of CPersona 2.6.14.
  it.each([
    [
      "One. Two! Three?",
      [
        [0, 4],
        [4, 9],
        [9, 16],
      ],
    ],
    [
      "a\n\nb\nc",
      [
        [0, 2],
        [2, 5],
        [5, 6],
      ],
    ],
    [
      "「中。文」です。次。",
      [
        [0, 8],
        [8, 10],
      ],
    ],
    [
      "v1.2.3 is out. ok",
      [
        [0, 14],
        [14, 17],
      ],
    ],
    [
      "[a. b] c. d",
      [
        [0, 9],
        [9, 11],
      ],
    ],
    [
      "(open bracket. never closed. end",
      [
        [0, 14],
        [14, 28],
        [28, 32],
      ],
    ],
    [
      "x".repeat(2000),
      [
        [0, 739],
        [739, 1478],
        [1478, 2000],
      ],
    ],
    [
      "word ".repeat(400),
      [
        [0, 735],
        [735, 1470],
        [1470, 2000],
      ],
    ],
    [
      "終わり。\n\n次",
      [
        [0, 4],
        [4, 7],
      ],
    ],
  ])("cuts '%.20s' as ever", (text, expected) => {
    expect(spans(text)).toEqual(expected);
  });

  it("says which cuts only the length asked for", () => {
    expect(splitSentences("x".repeat(1000)).map(({ forced }) => forced)).toEqual([true, false]);
  });

  it.each([
    ["Dr. Smith met J. Doe, e.g. in May. He left.", ["Dr. Smith met J. Doe, e.g. in May.", " He left."]],
    ["We start at 9 a.m. sharp. Be there.", ["We start at 9 a.m. sharp.", " Be there."]],
    ["It ends at 5 p.m. Then we eat.", ["It ends at 5 p.m.", " Then we eat."]],
    ["Pi is 3.14 or so. Yes.", ["Pi is 3.14 or so.", " Yes."]],
    ["1. Buy milk\n2. Call Ann", ["1. Buy milk\n", "2. Call Ann"]],
    ["The answer is no. See no. 5 there.", ["The answer is no.", " See no. 5 there."]],
    ["So did I. You too.", ["So did I.", " You too."]],
    ['He said "go." Then he went.', ['He said "go."', " Then he went."]],
    ["本当？！はい。", ["本当？！", "はい。"]],
  ])("knows where the sentences of '%s' end", (text, expected) => {
    expect(parts(text)).toEqual(expected);
  });

  it("keeps fenced code in one piece, and the text behind it apart", () => {
    expect(parts("Run this:\n```\na. b\n\nc. d\n```\nDone. Good.")).toEqual([
      "Run this:\n",
      "```\na. b\n\nc. d\n```\n",
      "Done.",
      " Good.",
    ]);
  });

  it("takes far apart brackets for strays", () => {
    expect(parts(`sad :( ${"so. ".repeat(300)}happy :)`).length).toBeGreaterThan(300);
  });

  it("does not slow down on brackets", () => {
    const started = performance.now();
    for (const text of ["(", "()", "([", "(a. )", "「」(", "\n", "。", "```\n"]) {
      splitSentences(text.repeat(16_000 / text.length));
    }
    expect(performance.now() - started).toBeLessThan(3000);
  });

  it("partitions every text into pieces of at most the length, none of them blank", () => {
    const unit = fc.constantFrom(
      "a",
      "語",
      "。",
      ". ",
      "? ",
      "\n",
      "\n\n",
      " ",
      "(",
      ")",
      "「",
      "」",
      "👨‍👩‍👧",
      "e\u0301",
      "```\n",
      "1. ",
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 120 }), fc.integer({ min: 12, max: 60 }), (units, maxChars) => {
        const text = units.join("");
        const pieces = splitSentences(text, maxChars);
        expect(pieces.map(({ start, end }) => sliceChars(text, start, end)).join("")).toBe(text);
        for (const { start, end } of pieces) expect(end - start).toBeLessThanOrEqual(maxChars);
        for (const [i, { start }] of pieces.entries()) expect(start).toBe(i === 0 ? 0 : pieces[i - 1]?.end);
      }),
    );
  });

  it("cuts by force between graphemes: emoji sequences, marks, pairs", () => {
    const family = "👨‍👩‍👧‍👦";
    for (const text of [family.repeat(300), "e\u0301".repeat(900), "𠮷".repeat(900), "🇯🇵".repeat(500)]) {
      for (const { end } of splitSentences(text)) expect(graphemeStart(text, 0, end)).toBe(end);
      expect(Math.max(...splitSentences(text).map(({ start, end }) => end - start))).toBeLessThanOrEqual(
        MAX_SENTENCE_CHARS,
      );
      expect(splitSentences(text).at(-1)?.end).toBe(countChars(text));
    }
  });
});
