import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RowPassages } from "../../../ts/recall/candidate.js";
import { cutExcerpt } from "../../../ts/response/excerpt.js";
import { countChars, cutChars } from "../../../ts/text/characters.js";
import { excerptSpans } from "../../../ts/text/excerpt-spans.js";

/** Passages of a text, scored by how often they hold the word. */
function scored(text: string, word: string, maxChars = 800): RowPassages {
  const chars = Array.from(text);
  const passages = excerptSpans(text, maxChars).map(({ start, end }) => ({
    start,
    end,
    score: chars.slice(start, end).join("").split(word).length - 1,
  }));
  return { basis: "lexical", passages };
}

const lines = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `Line ${i} speaks of matter number ${i * 7} and of nothing else.`);

describe("cutExcerpt", () => {
  it("shows the best passages in the order of the text, and marks what is left out between them", () => {
    const all = lines(40);
    all[30] = "The spare key hangs in the cellar.";
    all[20] = "Another key is with Ann, and one more key.";
    const text = all.join("\n");
    const excerpt = cutExcerpt(text, scored(text, "key"), { previewChars: 500, maxChars: 800 });
    expect(excerpt).toBe("Another key is with Ann, and one more key. … The spare key hangs in the cellar.");
  });

  it("joins what stands side by side", () => {
    const all = lines(40);
    all[30] = "The key hangs in the cellar.";
    all[31] = "That key is rusty.";
    const text = all.join("\n");
    expect(cutExcerpt(text, scored(text, "key"), { previewChars: 500, maxChars: 800 })).toBe(
      "The key hangs in the cellar.\nThat key is rusty.",
    );
  });

  it("repeats nothing that the preview shows", () => {
    const all = lines(40);
    all[1] = "The key hangs in the cellar.";
    all[30] = "The key hangs in the cellar.";
    all[35] = "No other key exists.";
    const text = all.join("\n");
    expect(cutExcerpt(text, scored(text, "key"), { previewChars: 500, maxChars: 800 })).toBe(
      "No other key exists.",
    );
  });

  it("goes on where the preview ends when nothing tells passages apart, and spends little on it", () => {
    const text = lines(40).join("\n");
    const excerpt = cutExcerpt(text, scored(text, "absent"), { previewChars: 500, maxChars: 800 });
    expect(text.indexOf(excerpt)).toBeLessThan(500);
    expect(excerpt.length).toBeLessThan(400);
  });

  it("is the start of a text that is one piece", () => {
    const text = "あ".repeat(700);
    const passages: RowPassages = { basis: "start", passages: [] };
    expect(cutExcerpt(text, passages, { previewChars: 500, maxChars: 600 })).toBe("あ".repeat(600));
  });

  it("is never empty for a cut text, keeps to its cap, and is made of the text in its order", () => {
    const unit = fc.constantFrom(
      "key ",
      "a word ",
      "語彙",
      "。",
      ". ",
      "\n",
      "ただし",
      "👨‍👩‍👧‍👦",
      "🎌",
      "e\u0301",
      "𠮷",
      "x".repeat(60),
    );
    fc.assert(
      fc.property(
        fc.array(unit, { minLength: 5, maxLength: 150 }),
        fc.integer({ min: 5, max: 60 }),
        fc.integer({ min: 10, max: 300 }),
        (units, previewChars, maxChars) => {
          const text = `begin ${units.join("")} end`;
          fc.pre(countChars(text) > previewChars);
          const excerpt = cutExcerpt(text, scored(text, "key", maxChars), { previewChars, maxChars });
          expect(excerpt.isWellFormed()).toBe(true);
          expect(excerpt).not.toBe("");
          expect(countChars(excerpt)).toBeLessThanOrEqual(maxChars);
          let from = 0;
          for (const stretch of excerpt.split(" … ")) {
            const at = text.indexOf(stretch, from);
            expect(at).toBeGreaterThanOrEqual(from);
            from = at + stretch.length;
          }
          expect(text.startsWith(cutChars(text, previewChars))).toBe(true);
        },
      ),
    );
  });
});
