import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exclusion } from "../../../ts/recall/exclude.js";
import { countChars } from "../../../ts/text/characters.js";
import { foldCase } from "../../../ts/text/normalise.js";

/** The rule as it is written down, entry by entry. */
function isExcluded(row: string, entries: readonly string[]): boolean {
  const text = foldCase(row);
  if (text === "") return false;
  return entries
    .map(foldCase)
    .filter((entry) => entry !== "")
    .some(
      (entry) =>
        text === entry || (countChars(entry) >= 32 && (entry.startsWith(text) || text.startsWith(entry))),
    );
}

describe("exclusion", () => {
  const base = "0123456789".repeat(5);
  it.each([
    ["equal short texts", base.slice(0, 5), base.slice(0, 5), true],
    ["a short prefix", "hello there", "hello", false],
    ["a row of 44 that starts with an entry of 40", base.slice(0, 44), base.slice(0, 40), true],
    ["a row of 35, a prefix of an entry of 40", base.slice(0, 35), base.slice(0, 40), true],
    ["a row of 10, a prefix of an entry of 40", base.slice(0, 10), base.slice(0, 40), true],
    ["a row of 32 that starts with an entry of 31", base.slice(0, 32), base.slice(0, 31), false],
    ["a row of 33 that starts with an entry of 32", base.slice(0, 33), base.slice(0, 32), true],
  ])("decides %s", (_, row, entry, excluded) => {
    expect(exclusion([entry])(row)).toBe(excluded);
  });

  it("agrees with the rule for any rows and entries", () => {
    // Few letters and lengths around the border, so that prefixes of each other are common.
    const text = fc
      .tuple(
        fc.constantFrom("", "a", "A", "b", "🎌"),
        fc.integer({ min: 0, max: 40 }),
        fc.constantFrom("", "a", "b", " "),
      )
      .map(([letter, times, end]) => letter.repeat(times) + end);
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), fc.array(text, { minLength: 1 }), (entries, rows) => {
        const isOut = exclusion(entries);
        for (const row of rows) expect([row, isOut(row)]).toEqual([row, isExcluded(row, entries)]);
      }),
      { numRuns: 500 },
    );
  });
});
