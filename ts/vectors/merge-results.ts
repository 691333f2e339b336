// Results of several searches over disjoint rows -> the result of one search over all of them.

import type { VectorSearchResult } from "../native/contract.js";

interface Scored {
  readonly key: number;
  readonly block: number;
  readonly score: number;
}

/** A record's best block counts, as in one search. Equal scores: the larger key, which is the newer record. */
export function mergeResults(
  results: readonly VectorSearchResult[],
  nearLimit: number,
  farLimit: number,
): VectorSearchResult {
  const near = best(
    results.flatMap((result) => part(result, 0, result.nearCount)),
    nearLimit,
  );
  const far = best(
    results.flatMap((result) => part(result, result.nearCount, result.keys.length)),
    farLimit,
  );
  const all = [...near, ...far];
  return {
    nearCount: near.length,
    keys: Float64Array.from(all, ({ key }) => key),
    blocks: Uint32Array.from(all, ({ block }) => block),
    scores: Float32Array.from(all, ({ score }) => score),
  };
}

function part({ keys, blocks, scores }: VectorSearchResult, from: number, to: number): Scored[] {
  return Array.from(keys.subarray(from, to), (key, i) => ({
    key,
    block: blocks[from + i] ?? 0,
    score: scores[from + i] ?? 0,
  }));
}

function best(rows: readonly Scored[], limit: number): Scored[] {
  const byKey = new Map<number, Scored>();
  for (const row of rows) {
    const known = byKey.get(row.key);
    if (known === undefined || row.score > known.score) byKey.set(row.key, row);
  }
  return [...byKey.values()].sort((a, b) => b.score - a.score || b.key - a.key).slice(0, limit);
}
