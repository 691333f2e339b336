// Lists -> candidates in the order of the recall mode.

import { sourceFilter } from "../domain/scope.js";
import { wholeWords } from "../text/tokenise.js";
import { type Candidate, rowText } from "./candidate.js";
import { exclusion } from "./exclude.js";
import { appendLists, fuseLists, listRanks, type RetrievedLists } from "./fuse.js";
import type { RecallParts, RecallRequest } from "./recall-parts.js";
import { type Retrieved, rowsOfKeys } from "./retrieve.js";
import type { LexicalQuery } from "./retrievers/lexical.js";

/**
 * Best first, with their rows. Rows that only a neighbour named come in under the same scope and exclusions.
 * With a `limit` only the rows that can still be among the best `limit` are read, when later steps multiply scores by
 * `leastFactor` to 1.
 */
export function rankCandidates(
  retrieved: Retrieved,
  request: RecallRequest,
  parts: RecallParts,
  { limit, leastFactor } = { limit: Number.POSITIVE_INFINITY, leastFactor: 1 },
): Candidate[] {
  const ranked = rankKeys(retrieved.lists, parts);
  // Confidence orders anew, so it needs all.
  const ranking = parts.config.recall.confidence.enabled
    ? ranked
    : head(ranked, retrieved, limit, leastFactor);
  const ranks = listRanks(retrieved.lists);
  const cosines = new Map(
    [...retrieved.lists.near, ...retrieved.lists.far].map((hit) => [hit.key, hit.cosine]),
  );
  const unread = new Set(ranking.map(({ key }) => key).filter((key) => !retrieved.rows.has(key)));
  const more = rowsOfKeys(unread, request.scope, sourceFilter(request.sourceId), parts);
  const isExcluded = exclusion(request.excludeContents);
  const candidates: Candidate[] = [];
  for (const { key, score, fromNeighbours } of ranking) {
    const row = retrieved.rows.get(key) ?? more.get(key);
    if (row === undefined || isExcluded(rowText(row))) continue;
    candidates.push({
      key,
      row,
      ranks: ranks.get(key) ?? {},
      cosine: cosines.get(key) ?? null,
      fused: score,
      fromNeighbours,
      coverage: null,
      exact: retrieved.exactKeys.has(key) ? identifiersIn(rowText(row), retrieved.plan) : 0,
      holdsIdentifier: false,
      penalty: 1,
      confidence: null,
    });
  }
  // By score already: exact identifiers come first.
  return candidates.sort((a, b) => b.exact - a.exact);
}

/** Names that stand in the text by themselves: `zq0x1-old` does not hold `zq0x1`. */
function identifiersIn(text: string, { identifiers }: LexicalQuery): number {
  const words = wholeWords(text);
  return identifiers.filter(({ name }) => words.has(name)).length;
}

interface RankedKey {
  readonly key: number;
  readonly score: number | null;
  readonly fromNeighbours: number;
}

/** The order of the recall mode; cascade knows no scores. */
function rankKeys(lists: RetrievedLists, parts: RecallParts): readonly RankedKey[] {
  const { mode, rrfK, neighbourShare, neighbourMinutes } = parts.config.recall;
  if (mode === "cascade") return appendLists(lists).map((key) => ({ key, score: null, fromNeighbours: 0 }));
  return fuseLists(lists, parts.fusion, parts.neighbours, {
    mode,
    rrfK,
    vectorWeight: parts.embedder.card.fusionWeight,
    neighbours: { share: neighbourShare, gapMs: neighbourMinutes * 60_000 },
  }).rows;
}

/**
 * Rows that can reach the first `limit` places: the gate drops no more rows than the vector lists hold, and exact
 * identifiers reach them from anywhere.
 */
function head(
  ranking: readonly RankedKey[],
  { lists: { near, far }, exactKeys }: Retrieved,
  limit: number,
  leastFactor: number,
): readonly RankedKey[] {
  const last = ranking[limit + near.length + far.length - 1]?.score ?? null;
  return last === null
    ? ranking
    : ranking.filter(({ key, score }) => (score ?? 0) >= last * leastFactor || exactKeys.has(key));
}
