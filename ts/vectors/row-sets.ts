// Sets of record keys, and index rows without some of them.

import type { VectorRows } from "../native/contract.js";

/** Both ascending lists as one. */
export function union(a: Float64Array, b: Float64Array | null): Float64Array {
  return b === null ? a : Float64Array.from(new Set([...a, ...b])).sort();
}

/** The rows themselves where none of them is left out. */
export function rowsWithout(rows: VectorRows, keys: ReadonlySet<number> | null): VectorRows {
  if (keys === null || !rows.keys.some((key) => keys.has(key))) return rows;
  const kept = Array.from(rows.keys, (_, i) => i).filter((i) => !keys.has(rows.keys[i] as number));
  const dimension = rows.vectors.length / rows.keys.length;
  const vectors = new Float32Array(kept.length * dimension);
  for (const [to, from] of kept.entries())
    vectors.set(rows.vectors.subarray(from * dimension, (from + 1) * dimension), to * dimension);
  const pick = (values: Float64Array | Uint32Array): number[] => kept.map((i) => values[i] as number);
  return {
    keys: Float64Array.from(pick(rows.keys)),
    blocks: Uint32Array.from(pick(rows.blocks)),
    scopes: Uint32Array.from(pick(rows.scopes)),
    times: Float64Array.from(pick(rows.times)),
    vectors,
  };
}
