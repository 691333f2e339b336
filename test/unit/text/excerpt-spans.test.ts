import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countChars, sliceChars } from "../../../ts/text/characters.js";
import { chunksOf } from "../../../ts/text/chunks.js";
import { excerptSpans, governingSpans } from "../../../ts/text/excerpt-spans.js";
import { startsWithQualifier } from "../../../ts/text/qualifiers.js";
import { splitSentences } from "../../../ts/text/sentences.js";

const governed = (text: string, maxChars = 739): string[] =>
  governingSpans(text, splitSentences(text), maxChars).map(({ start, end }) => text.slice(start, end));
const passages = (text: string, maxChars = 800): string[] =>
  excerptSpans(text, maxChars).map(({ start, end }) => sliceChars(text, start, end));

describe("startsWithQualifier", () => {
  it.each([
    "However the first month is free.",
    " But not later.",
    "but, later",
    "Unless it rains",
    "ただし初月は無料です。",
    "しかし違う",
    "なお、送料は別です",
    "なお送料は別",
    "一方、東京では",
    "on the other hand it works",
    "In fact, no.",
    "“However …”",
  ])("takes '%s'", (text) => {
    expect(startsWithQualifier(text)).toBe(true);
  });

  it.each([
    "Exceptional people",
    "Butter is out",
    "Actually it works",
    "Instead of tea",
    "なおさら困る",
    "なおす",
    "一方的な話",
    "ただしい答え",
    "でもの話",
    "だがし屋",
    "Thoughtful",
  ])("leaves '%s'", (text) => {
    expect(startsWithQualifier(text)).toBe(false);
  });
});

describe("governingSpans", () => {
  it("keep a sentence and what limits it together", () => {
    expect(governed("料金は月額千円です。ただし初月は無料です。次の話題です。")).toEqual([
      "料金は月額千円です。ただし初月は無料です。",
      "次の話題です。",
    ]);
    expect(governed("Price is 10. However the first month is free. But not later. Next topic.")).toEqual([
      "Price is 10. However the first month is free. But not later.",
      " Next topic.",
    ]);
  });

  it("do not chain list items and lines without a full stop", () => {
    expect(governed("- item one\n- item two\n\nPara.")).toEqual(["- item one\n", "- item two\n", "\nPara."]);
  });

  it("keep a heading with what it heads, and a sentence that goes on in the next line", () => {
    expect(governed("# Ports\nStaging is 6432.\nOld.")).toEqual(["# Ports\nStaging is 6432.", "\nOld."]);
    expect(governed("The port of the\nstaging server is 6432.")).toEqual([
      "The port of the\nstaging server is 6432.",
    ]);
  });

  it("never run away", () => {
    const text = "But no. ".repeat(200);
    for (const span of governed(text, 100)) expect(span.length).toBeLessThanOrEqual(100);
  });
});

describe("excerptSpans", () => {
  it("shows a line of a conversation whole", () => {
    expect(passages("Ann: Where is it? I looked.\nBob: In the cellar. Behind the boiler.")).toEqual([
      "Ann: Where is it? I looked.",
      "\nBob: In the cellar. Behind the boiler.",
    ]);
  });

  it("parts a long paragraph at its sentences", () => {
    const found = passages("One sentence of about forty characters. ".repeat(30));
    expect(found.length).toBeGreaterThan(5);
    for (const passage of found) expect(passage.length).toBeLessThanOrEqual(200);
  });

  it("partitions every text", () => {
    const unit = fc.constantFrom(
      "a word ",
      "語",
      "。",
      ". ",
      "\n",
      "# ",
      "But ",
      "ただし",
      "👨‍👩‍👧",
      "x".repeat(90),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 80 }), fc.integer({ min: 20, max: 900 }), (units, maxChars) => {
        const text = units.join("");
        expect(passages(text, maxChars).join("")).toBe(text);
        for (const { start, end } of excerptSpans(text, maxChars))
          expect(end - start).toBeLessThanOrEqual(maxChars);
      }),
    );
  });
});

describe("chunksOf", () => {
  it("leaves a short text whole", () => {
    expect(chunksOf("A short note. With two sentences.")).toEqual([{ start: 0, end: 33 }]);
    expect(chunksOf("🎌".repeat(500))).toEqual([{ start: 0, end: 500 }]);
  });

  it("partitions a long one into blocks of at most 350 characters, at sentence ends", () => {
    const text = "One sentence of about forty characters. ".repeat(100);
    const blocks = chunksOf(text);
    expect(blocks.map(({ start, end }) => sliceChars(text, start, end)).join("")).toBe(text);
    for (const { start, end } of blocks.slice(0, -1)) {
      expect(end - start).toBeLessThanOrEqual(350);
      expect(text.slice(start, end).trimEnd()).toMatch(/\.$/);
    }
    expect(blocks.at(-1)?.end).toBe(countChars(text));
  });

  it("ends a block with a paragraph when it is long enough", () => {
    const paragraph = `${"word ".repeat(44).trim()}.`;
    const text = [paragraph, paragraph, paragraph].join("\n\n");
    expect(chunksOf(text)).toHaveLength(3);
  });
});
