// Rows said next to a good row share in its score: in a conversation the answer often stands in the turn
// before or after the one that holds the question's words.

import { recordKey, recordOfKey } from "../domain/record.js";
import type { FusedRanking } from "../native/contract.js";

/** Finds the rows said right before and after each memory. */
export type FindNeighbours = (ids: readonly number[], gapMs: number) => Map<number, number[]>;

export interface NeighbourOptions {
  /** share of a row's fused score that each neighbour gets */
  readonly share: number;
  readonly gapMs: number;
}

/** Only the best rows hand on a share: the others' shares are too small to move anything. */
const MAX_GIVERS = 20;

export interface SharedRanking {
  /** best first; equal scores keep their order, rows that only a neighbour named come behind */
  readonly rows: readonly { readonly key: number; readonly score: number; readonly fromNeighbours: number }[];
}

/** Adds neighbours' shares to a fused ranking, and rows that the lists did not name. */
export function shareWithNeighbours(
  fused: FusedRanking,
  find: FindNeighbours,
  { share, gapMs }: NeighbourOptions,
): SharedRanking {
  const own = new Map(Array.from(fused.keys, (key, i) => [key, fused.scores[i] ?? 0]));
  const givers = [...own.keys()]
    .slice(0, MAX_GIVERS)
    .map(recordOfKey)
    .filter(({ kind }) => kind === "mem");
  const received = new Map<number, number>();
  const neighbours =
    share > 0 && givers.length > 0
      ? find(
          givers.map(({ id }) => id),
          gapMs,
        )
      : new Map<number, number[]>();
  for (const [id, ids] of neighbours) {
    const part = share * (own.get(recordKey("mem", id)) ?? 0);
    for (const neighbour of ids) {
      const key = recordKey("mem", neighbour);
      // The larger share counts, not the sum: two good neighbours must not lift a row above both.
      received.set(key, Math.max(received.get(key) ?? 0, part));
    }
  }
  const keys = new Set([...own.keys(), ...received.keys()]);
  const rows = Array.from(keys, (key) => {
    const fromNeighbours = received.get(key) ?? 0;
    return { key, score: (own.get(key) ?? 0) + fromNeighbours, fromNeighbours };
  });
  return { rows: rows.sort((a, b) => b.score - a.score) };
}
