import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { charSlicer, countChars, cutChars, graphemeStart, sliceChars } from "../../../ts/text/characters.js";
import { cleanText, jsonDefect, textDefect } from "../../../ts/text/clean.js";
import { foldCase } from "../../../ts/text/normalise.js";

const FAMILY = "👨‍👩‍👧‍👦";
const wellFormed = fc.string({ unit: "binary" }).map((text) => text.toWellFormed());

describe("countChars", () => {
  it.each([
    ["", 0],
    ["abc", 3],
    ["漢字かな", 4],
    ["🎌🎌", 2],
    [FAMILY, 7],
    ["e\u0301", 2],
    ["𠮷野家", 3],
    ["\ud800a\ud800", 3],
  ])("counts code points of '%s'", (text, count) => {
    expect(countChars(text)).toBe(count);
  });

  it("agrees with the language's own iteration", () => {
    fc.assert(
      fc.property(wellFormed, (text) => {
        expect(countChars(text)).toBe(Array.from(text).length);
      }),
    );
  });
});

describe("cutChars", () => {
  it("gives a prefix of so many code points and never half of one", () => {
    fc.assert(
      fc.property(wellFormed, fc.nat(40), (text, chars) => {
        const cut = cutChars(text, chars);
        expect(cut).toBe(Array.from(text).slice(0, chars).join(""));
        expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });

  it.each([498, 499, 500, 501, 502, 503])("cuts flags behind 249 kanji at %i", (chars) => {
    const text = `${"あ".repeat(249)}${"🎌".repeat(300)}`;
    expect(Array.from(cutChars(text, chars))).toHaveLength(chars);
  });
});

describe("graphemeStart", () => {
  it("agrees with the segmenter at every place, also where it does not ask it", () => {
    const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
    const unit = fc.constantFrom(
      ..."aZé0 .ー東かパ「！",
      "\u0301",
      "\u3099",
      "\u200d",
      "👩",
      "👧",
      "🇯",
      "🇵",
      "가",
      "\u11a8",
      "\r",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 30 }), fc.nat(30), (units, place) => {
        const text = units.join("");
        const at = Math.min(place, units.length - 1);
        const starts = Array.from(segmenter.segment(text), ({ index }) => countChars(text.slice(0, index)));
        expect(graphemeStart(text, 0, at)).toBe(starts.filter((start) => start <= at).at(-1));
      }),
    );
  });
});

describe("defects", () => {
  it("are lone surrogates and NUL, and nothing else", () => {
    expect(textDefect("a\ud83d")).toMatch(/lone surrogate/);
    expect(textDefect("\udf8c a")).toMatch(/lone surrogate/);
    expect(textDefect("a\0b")).toMatch(/NUL/);
    for (const text of ["", "🎌", FAMILY, "\u0001\u200b\ufeff\n", "\\ud83d \\u0000"])
      expect(textDefect(text)).toBeNull();
  });

  it("are found in JSON at any depth, and escapes that only look like them are not", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
        const json = JSON.stringify({ value, text });
        const bad = `${text}`;
        const wanted = !bad.isWellFormed() || bad.includes("\0") || defective(value);
        expect(jsonDefect(json) !== null).toBe(wanted);
      }),
    );
    expect(jsonDefect(JSON.stringify({ a: "\\ud83d" }))).toBeNull();
    expect(jsonDefect(JSON.stringify({ a: "\\\\u0000" }))).toBeNull();
    expect(jsonDefect(JSON.stringify({ a: "\\\ud83d" }))).toMatch(/surrogate/);
  });
});

function defective(value: unknown): boolean {
  if (typeof value === "string") return !value.isWellFormed() || value.includes("\0");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, item]) => defective(key) || defective(item));
}

describe("cleanText", () => {
  it.each([
    ["plain", "plain"],
    ["  blanks \n", "blanks"],
    ["[Memory from 2026-01-02] the rest", "the rest"],
    ["a [Memory from x]   b", "a b"],
    ["[Memory from a][Memory from b]\n\tboth", "both"],
    ["[Memory from never closed", "[Memory from never closed"],
    ["[memory from x] lower case stays", "[memory from x] lower case stays"],
    ["[Memory from] stays", "[Memory from] stays"],
    ["[Mem[Memory from x]ory from y] joined", "joined"],
    ["[Memory from x]", ""],
    ["[Memory from a [Memory from b] c]", "c]"],
  ])("makes '%s' into '%s'", (raw, text) => {
    expect(cleanText(raw, 100)).toEqual({ text, truncated: false });
  });

  it("leaves no annotation, whatever is nested in what", () => {
    const piece = fc.constantFrom("[Memory from ", "[Memory", " from ", "]", "a", " ", "[", "m");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const { text } = cleanText(pieces.join(""), 1000);
        expect(text).not.toMatch(/\[Memory from [^\]]*\]/);
        expect(cleanText(text, 1000).text).toBe(text);
      }),
    );
  });

  it("handles a million nested openings", () => {
    const deep = "[Memory from ".repeat(80_000);
    expect(cleanText(`${deep}x${"]".repeat(80_000)}`, 2_000_000).text).toMatch(/\]$/);
    expect(cleanText(deep, 2_000_000).text).toBe(deep.trim());
    const split = `${"[Mem".repeat(20_000)}${"ory from x]".repeat(20_000)}`;
    expect(cleanText(split, 2_000_000).text.length).toBeLessThanOrEqual(split.length);
  });

  it("cuts to so many code points and takes blanks off the new end", () => {
    expect(cleanText("🎌".repeat(6), 5)).toEqual({ text: "🎌".repeat(5), truncated: true });
    expect(cleanText("🎌".repeat(5), 5)).toEqual({ text: "🎌".repeat(5), truncated: false });
    expect(cleanText("abc  def", 5)).toEqual({ text: "abc", truncated: true });
  });
});

describe("foldCase", () => {
  it("trims and lowers, beyond ASCII too", () => {
    expect(foldCase(" ÄÖ Straße ΣΑΣ \n")).toBe("äö straße σας");
  });
});

describe("charSlicer", () => {
  it("slices by code points, whatever lies outside the text", () => {
    for (const text of ["", "plain", "日本🎌語𠮷", "👨‍👩‍👧 e\u0301"]) {
      const slice = charSlicer(text);
      const chars = Array.from(text);
      for (let start = 0; start <= chars.length; start++)
        for (let end = start; end <= chars.length + 2; end++) {
          expect(slice(start, end)).toBe(chars.slice(start, end).join(""));
          expect(sliceChars(text, start, end)).toBe(chars.slice(start, end).join(""));
        }
    }
  });
});
