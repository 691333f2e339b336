// exclude_contents: rows whose text the caller holds already are left out.

import { countChars } from "../text/characters.js";
import { foldCase } from "../text/normalise.js";

/** Shorter entries exclude only by equality: a short prefix would hide unrelated rows. */
const MIN_PREFIX_CHARS = 32;

/**
 * A predicate over row texts. A row is excluded when its text equals an entry, or when one of the two is a
 * prefix of the other and the prefix has 32 or more characters. Trimmed and lower-cased on both sides.
 * Costs a binary search a row, however many entries there are.
 */
export function exclusion(entries: readonly string[]): (text: string) => boolean {
  const sorted = [...new Set(entries.map(foldCase).filter((entry) => entry !== ""))].sort();
  if (sorted.length === 0) return () => false;
  const exact = new Set(sorted);
  const long = sorted.filter((entry) => countChars(entry) >= MIN_PREFIX_CHARS);
  const prefixes = withoutExtensions(long);
  return (raw) => {
    const text = foldCase(raw);
    if (text === "") return false;
    if (exact.has(text)) return true;
    const at = lowerBound(long, text);
    // Entries that start with the row's text stand right behind it in the order.
    if (long[at]?.startsWith(text) === true) return true;
    const before = prefixes[lowerBound(prefixes, text) - 1];
    return before !== undefined && text.startsWith(before);
  };
}

/** Drops entries that start with another one: what they exclude as a prefix, the shorter one excludes too. */
function withoutExtensions(sorted: readonly string[]): string[] {
  const kept: string[] = [];
  for (const entry of sorted) {
    const last = kept[kept.length - 1];
    if (last === undefined || !entry.startsWith(last)) kept.push(entry);
  }
  return kept;
}

/** Position of the first element that is not smaller. */
function lowerBound(sorted: readonly string[], value: string): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] as string) < value) from = middle + 1;
    else to = middle;
  }
  return from;
}
