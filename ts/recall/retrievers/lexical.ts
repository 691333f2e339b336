// Candidates by words: one list of memories, one of episodes. Not limited by the scan window.

import type { RecordKind } from "../../domain/record.js";
import type { ReadScope, SourceFilter } from "../../domain/scope.js";
import type { LexicalHit } from "../../store/lexical.js";
import { mayBePartOfIdentifier } from "../../text/identifiers.js";
import {
  contentTerms,
  type Identifier,
  queryIdentifiers,
  queryTerms,
  substringTerms,
} from "../../text/tokenise.js";

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
  /** content terms of the query */
  readonly terms: readonly string[];
  /** the terms that are searched for: all, or the rarest of many */
  readonly searched: readonly string[];
  /** those of them that say something about a row; enough where they find enough rows */
  readonly weighty: readonly string[];
  /** stretches that the words index does not know: asked of the substring index */
  readonly substrings: readonly string[];
  /** exact identifiers of the query */
  readonly identifiers: readonly Identifier[];
  /** in how many memories each term occurs */
  readonly frequencies: ReadonlyMap<string, number>;
  /** number of indexed memories */
  readonly records: number;
}

/** More terms cost time and change nothing in the first rows; the rarest are kept. */
const MAX_TERMS = 64;
const MAX_SUBSTRINGS = 8;
const MAX_IDENTIFIERS = 8;
/** An identifier that more rows of the scope hold does not tell which of them is meant. */
const MAX_HOLDERS = 10;
/** FTS5 gives a term in more than half of the rows no weight, so searching for it only costs time. */
const WEIGHTLESS_SHARE = 0.5;

/** Splits a query into what each index is asked for. */
export function planLexicalQuery(query: string, source: LexicalSource): LexicalQuery {
  const terms = contentTerms(query);
  const stretches = substringTerms(query).filter(mayBePartOfIdentifier);
  const parts = new Map(stretches.map((text) => [text, queryTerms(text).map((term) => term.text)]));
  const frequencies = source.documentFrequencies([...new Set([...terms, ...[...parts.values()].flat()])]);
  const records = source.documentCount();
  const count = (term: string): number => frequencies.get(term) ?? 0;
  const byRarity = [...terms].sort((a, b) => count(a) - count(b));
  const weighty = byRarity.filter((term) => count(term) <= records * WEIGHTLESS_SHARE);
  const isUnknown = (text: string): boolean => (parts.get(text) ?? []).every((term) => count(term) === 0);
  return {
    terms,
    searched: byRarity.slice(0, MAX_TERMS),
    weighty: weighty.slice(0, MAX_TERMS),
    substrings: stretches.filter(isUnknown).slice(0, MAX_SUBSTRINGS),
    identifiers: queryIdentifiers(query).slice(0, MAX_IDENTIFIERS),
    frequencies,
    records,
  };
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
  const search = (terms: readonly string[]): LexicalHit[] =>
    terms.length === 0 ? [] : source.searchTerms(kind, terms, scope, filter, limit);
  const byWeighty = search(query.weighty);
  // A row that only holds a common word is a hit too, where nothing better fills the list.
  const isEnough = byWeighty.length >= limit || query.weighty.length === query.searched.length;
  const byTerms = isEnough ? byWeighty : search(query.searched);
  if (query.substrings.length === 0 || byTerms.length >= limit) return byTerms;
  const known = new Set(byTerms.map((hit) => hit.id));
  const bySubstring = source.searchSubstrings(kind, query.substrings, scope, filter, limit);
  return [...byTerms, ...bySubstring.filter((hit) => !known.has(hit.id))].slice(0, limit);
}

/** Ids of the rows that hold an exact identifier of the query which few rows hold. */
export function rowsOfIdentifiers(
  kind: RecordKind,
  { identifiers }: LexicalQuery,
  source: LexicalSource,
  scope: ReadScope,
  filter: SourceFilter | null,
): LexicalHit[] {
  const hits = new Map<number, LexicalHit>();
  for (const { term } of identifiers) {
    const found = source.searchTerms(kind, [term], scope, filter, MAX_HOLDERS + 1);
    if (found.length <= MAX_HOLDERS) for (const hit of found) hits.set(hit.id, hit);
  }
  return [...hits.values()];
}

/** The list with rows behind it that it does not name. */
export function completeList(list: readonly LexicalHit[], more: readonly LexicalHit[]): LexicalHit[] {
  const known = new Set(list.map(({ id }) => id));
  return [...list, ...more.filter(({ id }) => !known.has(id))];
}
