// Candidates by words: one list of memories, one of episodes. Not limited by the scan window.

import type { RecordKind } from "../../domain/record.js";
import type { ReadScope, SourceFilter } from "../../domain/scope.js";
import { queryTerms, substringTerms, type Term } from "../../domain/terms.js";
import type { LexicalHit } from "../../store/lexical.js";

/** What this retriever needs of the store. */
export interface LexicalSource {
  searchTerms(
    kind: RecordKind,
    terms: readonly string[],
    scope: ReadScope,
    source: SourceFilter | null,
    limit: number,
  ): LexicalHit[];
  searchSubstrings(
    kind: RecordKind,
    substrings: readonly string[],
    scope: ReadScope,
    source: SourceFilter | null,
    limit: number,
  ): LexicalHit[];
  /** number of indexed memories */
  documentCount(): number;
  documentFrequencies(terms: readonly string[]): Map<string, number>;
}

export interface LexicalQuery {
  /** words index terms that are asked for, all of them content */
  readonly terms: readonly string[];
  /** stretches that the words index does not know: asked of the substring index */
  readonly substrings: readonly string[];
}

/** More terms cost time and change nothing in the first rows; the rarest are kept. */
const MAX_TERMS = 64;
const MAX_SUBSTRINGS = 8;

/** Splits a query into what each index is asked for. */
export function planLexicalQuery(query: string, source: LexicalSource): LexicalQuery {
  const content = queryTerms(query).filter((term) => term.content);
  const terms = content.length > MAX_TERMS ? rarest(content, source) : content.map((term) => term.text);
  return { terms, substrings: unknownIdentifiers(query, source) };
}

function rarest(terms: readonly Term[], source: LexicalSource): string[] {
  const frequency = source.documentFrequencies(terms.map((term) => term.text));
  const known = terms.map((term) => term.text).filter((text) => (frequency.get(text) ?? 0) > 0);
  return known.sort((a, b) => (frequency.get(a) ?? 0) - (frequency.get(b) ?? 0)).slice(0, MAX_TERMS);
}

/**
 * Parts of identifiers: stretches with a digit or a connector, or long words, that are no term of their own.
 * Short plain words are left out: "cat" must not find "education".
 */
function unknownIdentifiers(query: string, source: LexicalSource): string[] {
  const stretches = substringTerms(query).filter(
    (text) => /[\p{N}_.\-/:@#]/u.test(text) || /^\p{L}{6,}$/u.test(text),
  );
  if (stretches.length === 0) return [];
  const terms = new Map(stretches.map((text) => [text, queryTerms(text).map((term) => term.text)]));
  const frequency = source.documentFrequencies([...terms.values()].flat());
  const isUnknown = (text: string): boolean =>
    (terms.get(text) ?? []).every((term) => (frequency.get(term) ?? 0) === 0);
  return stretches.filter(isUnknown).slice(0, MAX_SUBSTRINGS);
}

/** The list of one kind: rows by words first, then rows that only hold a substring. */
export function retrieveLexical(
  kind: RecordKind,
  query: LexicalQuery,
  source: LexicalSource,
  scope: ReadScope,
  filter: SourceFilter | null,
  limit: number,
): LexicalHit[] {
  const byTerms = query.terms.length === 0 ? [] : source.searchTerms(kind, query.terms, scope, filter, limit);
  if (query.substrings.length === 0 || byTerms.length >= limit) return byTerms;
  const known = new Set(byTerms.map((hit) => hit.id));
  const bySubstring = source.searchSubstrings(kind, query.substrings, scope, filter, limit);
  return [...byTerms, ...bySubstring.filter((hit) => !known.has(hit.id))].slice(0, limit);
}
