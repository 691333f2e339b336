// What unrelated texts look like to an embedder that no card describes, before the store is calibrated: the
// median cosine of pairs of its own rows. Cheap enough for the recall that needs it.

import { quantile } from "./separation.js";

/** Rows looked at: the newest of the scope, each paired with the one so far behind it. */
const SAMPLE_ROWS = 128;
const MIN_ROWS = 30;
/** Grown by so much, a store is looked at again. */
const GROWTH = 2;

export interface QuickLevelParts {
  /** one vector each of the agent's newest rows, newest first */
  readonly newestVectors: (agentId: string, rows: number) => readonly Float32Array[];
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
    const vectors = this.#parts.newestVectors(agentId, SAMPLE_ROWS);
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
