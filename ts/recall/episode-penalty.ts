// Memories from before the newest episode's end sink a little: the current session comes first. It changes
// the order only; what the gate looks at stays as it was found. Seed 000, section 3.

import { parseInstant } from "../domain/time.js";
import type { EpisodePenaltyConfig } from "../settings/recall.js";
import type { Candidate } from "./candidate.js";

const HOUR_MS = 3_600_000;

/** `max(exp(-rate × hours before the boundary), floor)`; 1 at and after the boundary. Moments in ms. */
export function penaltyFactor(
  instant: number,
  boundary: number,
  { rate, floor }: EpisodePenaltyConfig,
): number {
  if (instant >= boundary) return 1;
  return Math.max(Math.exp((-rate * (boundary - instant)) / HOUR_MS), floor);
}

/** Sets the factor of every memory with a readable timestamp; episodes and undated rows have none. */
export function applyEpisodePenalty(
  candidates: readonly Candidate[],
  boundary: number | null,
  config: EpisodePenaltyConfig,
): readonly Candidate[] {
  if (!config.enabled || boundary === null) return candidates;
  return candidates.map((candidate) => {
    const instant = candidate.row.kind === "mem" ? parseInstant(candidate.row.memory.timestamp) : null;
    return instant === null ? candidate : { ...candidate, penalty: penaltyFactor(instant, boundary, config) };
  });
}
