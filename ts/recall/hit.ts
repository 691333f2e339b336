// Candidate -> row of the answer: which value keyed it.

import type { RecallMode } from "../settings/recall.js";
import type { Candidate, Hit, MatchReason } from "./candidate.js";

export function toHit(candidate: Candidate, mode: RecallMode): Hit {
  const matchReason = reasonOf(candidate, mode);
  return {
    row: candidate.row,
    ...(matchReason === null ? {} : { matchReason }),
    ...(candidate.confidence === null ? {} : { confidence: candidate.confidence }),
  };
}

/** Signal priority: confidence, rsf, cosine, rrf. A row that no value keyed has no reason. */
function reasonOf({ cosine, fused, penalty, confidence }: Candidate, mode: RecallMode): MatchReason | null {
  const value = fused === null ? null : fused * penalty;
  const parts = {
    ...(cosine === null ? {} : { cosine }),
    ...(value === null ? {} : mode === "rsf" ? { rsf: value } : { rrf: value }),
  };
  if (confidence !== null) return { signal: "confidence", score: confidence.score, ...parts };
  if (value !== null && mode === "rsf") return { signal: "rsf", score: value, ...parts };
  if (cosine !== null) return { signal: "cosine", score: cosine, ...parts };
  return value === null ? null : { signal: "rrf", score: value, ...parts };
}
