// Whether the block opens at all. Relative to the store: what counts is how far the best row stands out from
// what rows hold by accident, not an absolute score, so that it works from the first memory on.

import { levelForStore } from "../recall/coverage.js";
import type { Evidence } from "./evidence.js";

export interface GateLevels {
  /** evidence of words and meaning together that opens */
  readonly evidence: number;
  /** calibrated cosine from which meaning alone opens */
  readonly meaning: number;
  /** nats of surprise from which words alone open: three rare words in a long prompt */
  readonly surprise: number;
}

export type AmbientOpener = "identifier" | "evidence" | "meaning" | "surprise" | null;

/** Fitted on prompts with and without an answer, English and Japanese, in stores of 10 to 20,000 rows. */
const EVIDENCE_ONE_ROW = 0.68;
const EVIDENCE_PER_DECADE = 0.08;
const MEANING_SMALL = 0.64;
const MEANING_LARGE = 0.72;
const SURPRISE = 6;

const MEANING_WEIGHT = 0.8;
const SURPRISE_WEIGHT = 0.05;
const MAX_SURPRISE = 8;
/** Level of unrelated texts on the calibrated scale: a lower one says no more. */
const UNRELATED_LEVEL = 0.4;
/** A connecting prompt leaves the choice to earlier ones: they must speak more clearly. */
const STRICTER = 1.1;
/** Share of the prompt's words that a row must hold before words count at all. */
const MIN_COVERAGE = 0.2;

export function gateLevels(records: number, isConnecting: boolean): GateLevels {
  const share = isConnecting ? STRICTER : 1;
  return {
    // The more rows, the more words one of them shares by accident: with their number's logarithm.
    evidence: (EVIDENCE_ONE_ROW + EVIDENCE_PER_DECADE * Math.log10(Math.max(1, records))) * share,
    meaning: levelForStore(records, MEANING_SMALL, MEANING_LARGE) * share,
    surprise: SURPRISE * share,
  };
}

/** Words and meaning of one row as one number; 0 for a row that shares next to no words. */
export function weightOf({ coverage, surprise, level }: Evidence): number {
  if (coverage < MIN_COVERAGE) return 0;
  return (
    coverage +
    MEANING_WEIGHT * Math.max(UNRELATED_LEVEL, level ?? UNRELATED_LEVEL) +
    SURPRISE_WEIGHT * Math.min(MAX_SURPRISE, Math.max(0, surprise))
  );
}

/** What opens the gate for this row, or null. */
export function openerOf(evidence: Evidence, levels: GateLevels): AmbientOpener {
  if (weightOf(evidence) >= levels.evidence) return "evidence";
  if (evidence.surprise >= levels.surprise) return "surprise";
  return evidence.level !== null && evidence.level >= levels.meaning ? "meaning" : null;
}
