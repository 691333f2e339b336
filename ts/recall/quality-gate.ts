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
}

/** What opened an answer, for explanations. */
export type GateOpener = "identifier" | "evidence" | "meaning" | null;

export interface GateVerdict {
  readonly passed: readonly Candidate[];
  readonly openedBy: GateOpener;
}

/** Weight of the best calibrated cosine beside the best coverage; fitted on questions with and without an answer. */
const MEANING_WEIGHT = 0.8;
/** Level of unrelated texts: a lower one, or none at all, says no more than this. */
const UNRELATED_LEVEL = 0.4;

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
  if (keywordHits.length > 0 && bestCoverage + MEANING_WEIGHT * bestLevel >= levels.evidence)
    return "evidence";
  return candidates.some((candidate) => level(candidate) >= levels.meaning) ? "meaning" : null;
}

/** Found by a content word, an identifier or a substring of the question. */
export function isKeywordHit({ ranks }: Candidate): boolean {
  return ranks.memories !== undefined || ranks.episodes !== undefined;
}
