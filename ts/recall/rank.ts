// Lists -> candidates in the order of the recall mode.

import { sourceFilter } from "../domain/scope.js";
import type { Candidate } from "./candidate.js";
import { rowText } from "./candidate.js";
import { exclusion } from "./exclude.js";
import { appendLists, fuseLists, listRanks } from "./fuse.js";
import type { RecallParts, RecallRequest } from "./recall-parts.js";
import { type Retrieved, rowsOfKeys } from "./retrieve.js";

/** Best first. Rows that only a neighbour named come in under the same scope and exclusions. */
export function rankCandidates(
  retrieved: Retrieved,
  request: RecallRequest,
  parts: RecallParts,
): Candidate[] {
  const { mode, rrfK, neighbourShare, neighbourMinutes } = parts.config.recall;
  const ranks = listRanks(retrieved.lists);
  const cosines = new Map(
    [...retrieved.lists.near, ...retrieved.lists.far].map((hit) => [hit.key, hit.cosine]),
  );
  const base = { coverage: null, holdsIdentifier: false, penalty: 1, confidence: null };
  if (mode === "cascade") {
    return Array.from(appendLists(retrieved.lists).keys, (key) => {
      const row = retrieved.rows.get(key);
      return row === undefined
        ? null
        : {
            ...base,
            key,
            row,
            ranks: ranks.get(key) ?? {},
            cosine: cosines.get(key) ?? null,
            fused: null,
            fromNeighbours: 0,
          };
    }).filter((candidate) => candidate !== null);
  }
  const ranking = fuseLists(retrieved.lists, parts.fusion, parts.neighbours, {
    mode,
    rrfK,
    vectorWeight: parts.embedder.card.fusionWeight,
    neighbours: { share: neighbourShare, gapMs: neighbourMinutes * 60_000 },
  });
  const unread = new Set(ranking.rows.map(({ key }) => key).filter((key) => !retrieved.rows.has(key)));
  const more = rowsOfKeys(unread, request.scope, sourceFilter(request.sourceId), parts);
  const isExcluded = exclusion(request.excludeContents);
  return ranking.rows
    .map(({ key, score, fromNeighbours }) => {
      const row = retrieved.rows.get(key) ?? more.get(key);
      if (row === undefined || (!ranks.has(key) && isExcluded(rowText(row)))) return null;
      return {
        ...base,
        key,
        row,
        ranks: ranks.get(key) ?? {},
        cosine: cosines.get(key) ?? null,
        fused: score,
        fromNeighbours,
      };
    })
    .filter((candidate) => candidate !== null);
}
