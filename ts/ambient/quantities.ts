// The quantities that ambient recall adds to relevance: mass, the virtual cosine, resonance.

import { dot } from "../domain/dot.js";
import { storageTimeMs } from "../domain/time.js";
import { decayed } from "../domain/use.js";
import type { Use } from "../store/uses.js";

/** `1 + ln(1 + uses)`, uses decayed; 1 for a row that was never used. */
export function massOf(use: Use | undefined, now: number): number {
  if (use === undefined || use.lastRecalledAt === null) return 1;
  return 1 + Math.log(1 + decayed(use.weight, now - storageTimeMs(use.lastRecalledAt)));
}

/** The virtual cosine never lies further below the raw one. */
const MAX_LOSS = 0.1;

export interface Neighbour {
  readonly vector: Float32Array;
  readonly weight: number;
}

/**
 * Cosine of the query with the row's vector moved towards its neighbours: unit(v + β·Σ ŵ·n), where β starts
 * at 1 and shrinks until the result is at least raw − 0.1. Equal to raw without neighbours.
 */
export function virtualCosine(
  query: Float32Array,
  vector: Float32Array,
  neighbours: readonly Neighbour[],
): number {
  const raw = dot(query, vector);
  const total = neighbours.reduce((sum, { weight }) => sum + weight, 0);
  if (total <= 0) return raw;
  const pull = new Float64Array(vector.length);
  for (const neighbour of neighbours)
    for (let i = 0; i < pull.length; i++)
      pull[i] = (pull[i] as number) + (neighbour.weight / total) * (neighbour.vector[i] ?? 0);
  for (let beta = 1; beta > 0.01; beta /= 2) {
    const moved = cosineOfMoved(query, vector, pull, beta);
    if (moved >= raw - MAX_LOSS) return moved;
  }
  return raw;
}

function cosineOfMoved(query: Float32Array, vector: Float32Array, pull: Float64Array, beta: number): number {
  let product = 0;
  let norm = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = (vector[i] as number) + beta * (pull[i] as number);
    product += value * (query[i] ?? 0);
    norm += value * value;
  }
  return norm > 0 ? product / Math.sqrt(norm) : 0;
}

/** The block of a record that is nearest to the query, or null when it has none of that width. */
export function nearestBlock(
  blocks: readonly Float32Array[] | undefined,
  query: Float32Array,
): Float32Array | null {
  let best: Float32Array | null = null;
  for (const block of blocks ?? [])
    if (block.length === query.length && (best === null || dot(block, query) > dot(best, query)))
      best = block;
  return best;
}

/** 0 to 1: how much two sets of rows were used together. */
export function resonance(weight: number, scale: number): number {
  return weight <= 0 ? 0 : weight / (weight + scale);
}
