// Lists -> candidates in the order of the recall mode.

import { sourceFilter } from "../domain/scope.js";
import { type Candidate, rowText } from "./candidate.js";
import { exclusion } from "./exclude.js";
import { appendLists, fuseLists, listRanks, type RetrievedLists } from "./fuse.js";
import type { RecallParts, RecallRequest } from "./recall-parts.js";
import { type Retrieved, rowsOfKeys } from "./retrieve.js";

/**
 * Best first, with their rows. Rows that only a neighbour named come in under the same scope and exclusions.
 * With a `limit` only the rows that can still be among the best `limit` are read.
 */
export function rankCandidates(
  retrieved: Retrieved,
  request: RecallRequest,
  parts: RecallParts,
  limit = Number.POSITIVE_INFINITY,
): Candidate[] {
  const ranking = head(rankKeys(retrieved.lists, parts), retrieved, request, limit, parts);
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
      holdsIdentifier: false,
      penalty: 1,
      confidence: null,
    });
  }
  return candidates;
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
 * Rows that can reach the first `limit` places: the penalty lowers a score by its floor at most, and the gate
 * drops no more rows than the vector lists hold. Confidence orders anew, so it needs all.
 */
function head(
  ranking: readonly RankedKey[],
  { lists }: Retrieved,
  { scope }: RecallRequest,
  limit: number,
  parts: RecallParts,
): readonly RankedKey[] {
  const { episodePenalty, confidence } = parts.config.recall;
  const last = ranking[limit + lists.near.length + lists.far.length - 1]?.score ?? null;
  if (last === null || confidence.enabled) return ranking;
  const isPenalised = episodePenalty.enabled && parts.newestEpisodeAt(scope) !== null;
  const least = last * (isPenalised ? episodePenalty.floor : 1);
  return ranking.filter(({ score }) => (score ?? 0) >= least);
}
