// Cuts a ranking at its largest gap, where gaps mean something: confidence values or raw cosines. Fused
// ranks fall hyperbolically by construction, so their gaps say nothing. Seed 000, section 6.

import type { AutocutConfig } from "../settings/recall.js";
import type { Candidate } from "./candidate.js";

/** Expects candidates best first. Exact identifiers were not put first by a score, so no gap concerns them. */
export function applyAutocut(candidates: readonly Candidate[], config: AutocutConfig): readonly Candidate[] {
  const isExact = ({ exact }: Candidate): boolean => exact > 0;
  const scored = candidates.filter((candidate) => !isExact(candidate));
  return [...candidates.filter(isExact), ...cutAtGap(scored, config)];
}

function cutAtGap(candidates: readonly Candidate[], config: AutocutConfig): readonly Candidate[] {
  const scores = similarityScores(candidates);
  const top = scores?.[0] ?? 0;
  if (!config.enabled || scores === null || scores.length < config.minResults || top <= 0) return candidates;
  let widest = 0;
  let cutAfter = scores.length;
  for (let i = 0; i + 1 < scores.length; i++) {
    const gap = (scores[i] as number) - (scores[i + 1] as number);
    if (gap > widest) {
      widest = gap;
      cutAfter = i + 1;
    }
  }
  return widest / top >= config.minGapRatio ? candidates.slice(0, cutAfter) : candidates;
}

/** The values to look for gaps in; null when the ranking is keyed by ranks or mixes signals. */
function similarityScores(candidates: readonly Candidate[]): number[] | null {
  const scores = candidates.map(({ confidence, fused, cosine, penalty }) => {
    if (confidence !== null) return confidence.score;
    return fused !== null || cosine === null ? null : cosine * penalty;
  });
  return scores.every((score) => score !== null) ? scores : null;
}
