// Which candidates are good enough to be shown. An unrelated question must get an empty answer, and a keyword
// hit must not be lost: so the evidence of all rows together has to open the answer, and then every keyword
// hit passes.

import type { Candidate } from "./candidate.js";

export interface GateLevels {
  /** evidence of words and meaning together from which an answer opens; 0: any keyword hit opens it */
  readonly evidence: number;
  /** calibrated cosine from which meaning alone opens an answer */
  readonly meaning: number;
  /** calibrated cosine that a hit by meaning needs in an open answer */
  readonly floor: number;
  /** what words and meaning count for in the evidence */
  readonly weights: EvidenceWeights;
}

export interface EvidenceWeights {
  /** of the best coverage */
  readonly words: number;
  /** of the best calibrated cosine above the level of unrelated texts */
  readonly meaning: number;
}

/**
 * Fitted on questions with and without an answer in the store. LoCoMo, answerable questions closed and questions about
 * another conversation opened: static table 1.8 % and 53 %; multilingual-e5-small with one prefix 1.0 % and 29 %,
 * with two 3.8 % and 11 %, all-MiniLM-L6-v2 2.6 % and 7 %.
 */
const STATIC_WEIGHTS: EvidenceWeights = { words: 1, meaning: 0.8 };
/** Vectors that see more than words are the better witness; questions have a direction in common for such a model. */
const CONTEXTUAL_WEIGHTS: EvidenceWeights = { words: 0.5, meaning: 1.5 };

export function evidenceWeights(isContextual: boolean): EvidenceWeights {
  return isContextual ? CONTEXTUAL_WEIGHTS : STATIC_WEIGHTS;
}

/** What opened an answer, for explanations. */
export type GateOpener = "identifier" | "evidence" | "meaning" | null;

export interface GateVerdict {
  readonly passed: readonly Candidate[];
  readonly openedBy: GateOpener;
}

/** Level of unrelated texts: a lower one, or none at all, says no more than this. */
const UNRELATED_LEVEL = 0.4;
/** Evidence of an unrelated row without a word of the question: zero on the scale of the setting. */
const UNRELATED_EVIDENCE = 0.32;

/** Keeps the candidates that pass, in their order. `calibrate` takes a raw cosine to the calibrated scale. */
export function applyGate(
  candidates: readonly Candidate[],
  levels: GateLevels,
  calibrate: (raw: number) => number,
): GateVerdict {
  const level = ({ cosine }: Candidate): number =>
    cosine === null ? Number.NEGATIVE_INFINITY : calibrate(cosine);
  const openedBy = opener(candidates, levels, level);
  if (openedBy === null) return { passed: [], openedBy };
  const passes = (candidate: Candidate): boolean =>
    isKeywordHit(candidate) || candidate.fromNeighbours > 0 || level(candidate) >= levels.floor;
  return { passed: candidates.filter(passes), openedBy };
}

function opener(
  candidates: readonly Candidate[],
  levels: GateLevels,
  level: (candidate: Candidate) => number,
): GateOpener {
  const keywordHits = candidates.filter(isKeywordHit);
  if (keywordHits.some(({ holdsIdentifier }) => holdsIdentifier)) return "identifier";
  const bestLevel = Math.max(UNRELATED_LEVEL, ...candidates.map(level));
  const bestCoverage = Math.max(0, ...keywordHits.map(({ coverage }) => coverage ?? 0));
  // Without any vector words are the only witness.
  const weights = candidates.some(({ cosine }) => cosine !== null) ? levels.weights : STATIC_WEIGHTS;
  const found =
    UNRELATED_EVIDENCE + weights.words * bestCoverage + weights.meaning * (bestLevel - UNRELATED_LEVEL);
  if (keywordHits.length > 0 && found >= levels.evidence) return "evidence";
  return candidates.some((candidate) => level(candidate) >= levels.meaning) ? "meaning" : null;
}

/** Found by a content word, an identifier or a substring of the question. */
export function isKeywordHit({ ranks }: Candidate): boolean {
  return ranks.memories !== undefined || ranks.episodes !== undefined;
}
