// Which candidates are good enough to be shown. A keyword hit always is; a hit by meaning alone needs a
// cosine that unrelated texts rarely reach.

import type { Candidate } from "./candidate.js";

export interface GateLevels {
  /** calibrated cosine from which meaning alone opens the answer */
  readonly open: number;
  /** calibrated cosine that a hit by meaning needs once something opened the answer */
  readonly floor: number;
}

/**
 * Keeps the candidates that pass, in their order. Nothing passes unless one of them is a keyword hit or
 * reaches `open`: an unrelated query gives an empty answer.
 */
export function applyGate(
  candidates: readonly Candidate[],
  levels: GateLevels,
  calibrate: (raw: number) => number,
): Candidate[] {
  const level = (candidate: Candidate): number =>
    candidate.cosine === undefined ? Number.NEGATIVE_INFINITY : calibrate(candidate.cosine);
  const isOpen = candidates.some((candidate) => candidate.keyword || level(candidate) >= levels.open);
  if (!isOpen) return [];
  return candidates.filter((candidate) => candidate.keyword || level(candidate) >= levels.floor);
}
