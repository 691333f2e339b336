import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth, packBlocks, splitText } from "../../../ts/intake/pieces.js";
import { countChars } from "../../../ts/text/characters.js";

describe("splitText", () => {
  it("cuts between sentences before it cuts between words", () => {
    expect(splitText("One two three. Four five six seven.", 20)).toEqual([
      "One two three.",
      "Four five six seven.",
    ]);
    expect(splitText("一二三四五。六七八九十。", 8)).toEqual(["一二三四五。", "六七八九十。"]);
  });

  it("never splits a surrogate pair", () => {
    for (const piece of splitText("🍞".repeat(25), 10)) expect(piece).toMatch(/^(🍞){5,10}$/u);
  });

  it("law: nothing but blank space is lost, no piece is longer than allowed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 40 }), (text, max) => {
        const pieces = splitText(text, max);
        expect(pieces.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
        for (const piece of pieces) expect(countChars(piece)).toBeLessThanOrEqual(max);
      }),
    );
  });
});

it("counts code points and columns", () => {
  expect(countChars("a🍞漢")).toBe([..."a🍞漢"].length);
  expect(displayWidth("a🍞漢ー（")).toBe(9);
});

it("packs neighbours up to the bound and leaves a longer block alone", () => {
  expect(packBlocks(["aa", "bb", "cccccccccc", "d"], 6)).toEqual(["aa\n\nbb", "cccccccccc", "d"]);
});
