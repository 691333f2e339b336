// Who the agent is acting as: the declared value or intention that fits the prompt. Nobody is better than the
// wrong one, so the floor comes before the ranking.

import { dot } from "../domain/dot.js";
import type { Memory } from "../domain/memory.js";
import { recordKey } from "../domain/record.js";
import { nearestBlock } from "./quantities.js";
import type { PersonaRow } from "./types.js";

export interface PersonaOptions {
  readonly poolSize: number;
  /** calibrated cosine below which nobody fits */
  readonly minRelevance: number;
  /** exponent of mass */
  readonly massWeight: number;
  readonly calibrate: (raw: number) => number;
  readonly massOf: (key: number) => number;
  readonly noveltyOf: (key: number) => number;
}

/** Pool by relevance, floor, then `mass^w × cosine`; of equal ones the older. */
export function pickPersona(
  candidates: readonly Memory[],
  vectors: ReadonlyMap<number, readonly Float32Array[]>,
  query: Float32Array,
  options: PersonaOptions,
): PersonaRow | null {
  const near = candidates
    .map((memory) => {
      const key = recordKey("mem", memory.id);
      const block = nearestBlock(vectors.get(key), query);
      return block === null ? null : { key, memory, cosine: dot(block, query) };
    })
    .filter((persona) => persona !== null)
    .sort((a, b) => b.cosine - a.cosine || a.key - b.key)
    .slice(0, options.poolSize)
    .filter(({ cosine }) => options.calibrate(cosine) >= options.minRelevance);
  let best: PersonaRow | null = null;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const { key, memory, cosine } of near.sort((a, b) => a.key - b.key)) {
    const mass = options.massOf(key);
    const score = mass ** options.massWeight * options.calibrate(cosine) * options.noveltyOf(key);
    if (score <= bestScore) continue;
    best = { key, memory, kind: memory.kind, cosine, mass };
    bestScore = score;
  }
  return best;
}
