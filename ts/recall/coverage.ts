// How much of a question's rare words a text holds. In a large store almost every question shares some word
// with some row; sharing the rare ones is what makes a keyword hit.

import { isIdentifierLike } from "../text/identifiers.js";

export interface QueryWords {
  /** content terms with their inverse document frequency, `ln(1 + (N - n + 0.5) / (n + 0.5))` */
  readonly weights: ReadonlyMap<string, number>;
  /** sum of the largest weights, of words that no row holds too */
  readonly total: number;
}

/** `records` is the number of indexed rows N, `frequencies` the number n of rows that hold each term. */
export function weighWords(
  terms: readonly string[],
  frequencies: ReadonlyMap<string, number>,
  records: number,
): QueryWords {
  const weights = new Map<string, number>();
  for (const term of terms) {
    const n = Math.min(frequencies.get(term) ?? 0, records);
    weights.set(term, Math.log(1 + (records - n + 0.5) / (n + 0.5)));
  }
  const rarest = [...weights.values()].sort((a, b) => b - a).slice(0, COUNTED_WORDS);
  return { weights, total: rarest.reduce((sum, weight) => sum + weight, 0) };
}

/** A long question is covered by a text that holds this many of its rare words: nothing holds forty. */
const COUNTED_WORDS = 8;

/** Share of the weight that a text's terms cover, 0 to 1; 0 for a query without content terms. */
export function coverage(held: ReadonlySet<string>, { weights, total }: QueryWords): number {
  if (total <= 0) return 0;
  let covered = 0;
  for (const [term, weight] of weights) if (held.has(term)) covered += weight;
  return Math.min(1, covered / total);
}

const SMALL_STORE = 50;
const LARGE_STORE = 500;

/**
 * A level that grows with the store, as the chance of a likeness by accident does: `small` up to 50 rows,
 * `large` from 500 rows on, with the logarithm between.
 */
export function levelForStore(records: number, small: number, large: number): number {
  const share = Math.log(Math.max(records, 1) / SMALL_STORE) / Math.log(LARGE_STORE / SMALL_STORE);
  return small + (large - small) * Math.min(1, Math.max(0, share));
}

/** More rows than this share hold it: the term is a year or a common version, not a name for something. */
const COMMON_SHARE = 0.01;
const ALWAYS_RARE_ROWS = 3;

/** Terms with a digit or a connector that few rows hold: error codes, tickets, paths, versions, ports. */
export function rareIdentifiers(
  terms: readonly string[],
  frequencies: ReadonlyMap<string, number>,
  records: number,
): string[] {
  const limit = Math.max(ALWAYS_RARE_ROWS, records * COMMON_SHARE);
  return terms.filter((term) => {
    const rows = frequencies.get(term) ?? 0;
    return rows > 0 && rows <= limit && isIdentifierLike(term);
  });
}
