// What unrelated texts look like to an embedder that no card describes, before the store is calibrated: the
// median cosine of pairs of its own rows that were stored far apart, since neighbours are often of one topic.
// Cheap enough for the recall that needs it.

import { quantile } from "./separation.js";

/** Rows looked at, evenly spaced over the newest; each is paired with the one half the sample behind it. */
const SAMPLE_ROWS = 128;
/** Rows that a sample is spread over at most, so that its cost has a bound. */
const SPREAD_ROWS = 10_000;
const MIN_ROWS = 30;
/** Grown by so much, a store is looked at again. */
const GROWTH = 2;

export interface QuickLevelParts {
  /** one vector each of `count` of the agent's newest `among` rows, evenly spaced, newest first */
  readonly spreadVectors: (agentId: string, count: number, among: number) => readonly Float32Array[];
}

export class QuickLevels {
  readonly #parts: QuickLevelParts;
  readonly #known = new Map<string, { readonly rows: number; readonly median: number }>();

  constructor(parts: QuickLevelParts) {
    this.#parts = parts;
  }

  /** Null for an agent with fewer than 30 rows; `rows` is how many it has. */
  unrelated(agentId: string, rows: number): number | null {
    if (rows < MIN_ROWS) return null;
    const known = this.#known.get(agentId);
    if (known !== undefined && rows < known.rows * GROWTH) return known.median;
    const vectors = this.#parts.spreadVectors(agentId, SAMPLE_ROWS, Math.min(rows, SPREAD_ROWS));
    const half = Math.floor(vectors.length / 2);
    if (half === 0) return null;
    const cosines = vectors.slice(0, half).map((vector, i) => dot(vector, vectors[i + half] as Float32Array));
    const median = quantile(cosines, 0.5);
    this.#known.set(agentId, { rows, median });
    return median;
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}
