// The profile row: put beside the scored rows, not among them. Seed 000, section 7.

import type { ConfidenceConfig } from "../settings/recall.js";
import type { ProfileRow } from "./candidate.js";
import { type Confidence, type ConfidenceContext, confidence } from "./confidence.js";

/** In smaller pools the profile would push out what was asked for. */
const MIN_POOL_ROWS = 50;

/** The row, or null when there is no profile or the pool (memories + episodes in scope) is too small. */
export function profileRow(content: string | null, poolRows: number): ProfileRow | null {
  return content === null || poolRows < MIN_POOL_ROWS ? null : { kind: "profile", content };
}

/** A profile has no vector and no moment, so it ranks high where confidence orders. */
export function profileConfidence(context: ConfidenceContext, config: ConfidenceConfig): Confidence {
  return confidence(
    { cosine: null, instant: null, resolved: false, recallCount: 0, lastRecalled: null },
    context,
    config,
  );
}
