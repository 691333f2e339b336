// The words index with a bound on its work: a prompt is no question, it may hold hundreds of words, and the
// common ones among them cost most and say least.

import type { LexicalSource } from "../recall/retrievers/lexical.js";

/** A list through at least this many of the rarest terms, however common they are. */
const MIN_TERMS = 3;

/**
 * The same index, where a search drops its most common terms once the rows they name exceed `maxPostings`.
 * Frequencies are looked up once. Made for one call: it does not see later writes.
 */
export function boundedLexical(source: LexicalSource, maxPostings: number): LexicalSource {
  const known = new Map<string, number>();
  let documents: number | undefined;
  const frequencies = (terms: readonly string[]): Map<string, number> => {
    const unknown = terms.filter((term) => !known.has(term));
    for (const [term, rows] of source.documentFrequencies(unknown)) known.set(term, rows);
    return new Map(terms.map((term) => [term, known.get(term) ?? 0]));
  };
  return {
    searchTerms: (kind, terms, scope, filter, limit) =>
      source.searchTerms(kind, rarest(terms, frequencies(terms), maxPostings), scope, filter, limit),
    searchSubstrings: (kind, substrings, scope, filter, limit) =>
      source.searchSubstrings(kind, substrings, scope, filter, limit),
    documentCount: () => {
      documents ??= source.documentCount();
      return documents;
    },
    documentFrequencies: frequencies,
  };
}

function rarest(
  terms: readonly string[],
  frequencies: ReadonlyMap<string, number>,
  maxPostings: number,
): string[] {
  const rows = (term: string): number => frequencies.get(term) ?? 0;
  const sorted = [...terms].sort((a, b) => rows(a) - rows(b));
  let postings = 0;
  return sorted.filter((term, i) => {
    postings += rows(term);
    return i < MIN_TERMS || postings <= maxPostings;
  });
}
