// The gate of a recall: by evidence (keyword hits and cosines), or by confidence where that is switched on.

import { TermMatcher } from "../text/term-matcher.js";
import { type Candidate, rowText } from "./candidate.js";
import { coverage, levelForStore, rareIdentifiers, weighWords } from "./coverage.js";
import { applyGate, evidenceWeights, type GateLevels, isKeywordHit } from "./quality-gate.js";
import type { CalibratedLevels, RecallParts, RecallRequest } from "./recall-parts.js";
import type { LexicalQuery } from "./retrievers/lexical.js";
import { cosineScale } from "./scale.js";

export interface PassedGate {
  readonly passed: readonly Candidate[];
  /** everything lay below the gate; these are the rows found by words (confidence only) */
  readonly fallback: boolean;
  readonly openedBy: string | null;
  readonly levels: Readonly<Record<string, number>>;
}

export function passGate(
  candidates: readonly Candidate[],
  plan: LexicalQuery,
  request: RecallRequest,
  parts: RecallParts,
): PassedGate {
  if (parts.config.recall.confidence.enabled) return passConfidence(candidates, request, parts);
  const pool = parts.pool(request.scope);
  const records = pool.memories + pool.episodes;
  const learned = parts.levels(request.scope);
  const scale = cosineScale(parts, learned);
  const levels = evidenceLevels(records, learned, scale, request, parts);
  const { weights: _, ...shown } = levels;
  const looked = withCoverage(candidates, plan);
  const verdict = applyGate(looked, levels, scale);
  return { passed: verdict.passed, fallback: false, openedBy: verdict.openedBy, levels: shown };
}

/** Looking at a text costs time, and the rows that cover most are among the first of the lists by words. */
const MAX_LOOKED_AT = 10;

function withCoverage(candidates: readonly Candidate[], plan: LexicalQuery): readonly Candidate[] {
  const { records, frequencies } = plan;
  const words = weighWords(plan.terms, frequencies, records);
  // What only the substring index knows is rarer than any term.
  const identifiers = [...rareIdentifiers(plan.terms, frequencies, records), ...plan.substrings];
  const matcher = new TermMatcher(plan.terms, plan.substrings);
  return candidates.map((candidate) => {
    const { memories = Number.POSITIVE_INFINITY, episodes = Number.POSITIVE_INFINITY } = candidate.ranks;
    const isExact = candidate.exact > 0;
    if (Math.min(memories, episodes) >= MAX_LOOKED_AT) return { ...candidate, holdsIdentifier: isExact };
    const held = matcher.match(rowText(candidate.row));
    const holdsIdentifier = isExact || identifiers.some((term) => held.has(term));
    return { ...candidate, coverage: coverage(held, words), holdsIdentifier };
  });
}

/** Calibrated cosines from which meaning alone opens an answer, in a small and in a large store. */
const MEANING_SMALL = 0.55;
const MEANING_LARGE = 0.68;
const FLOOR_LEVEL = 0.4;
/** Takes the weights 2 and 0.5 of strict and lenient to factors 1.15 and 0.87 of the needed evidence. */
const PRECISION_EXPONENT = 0.2;

function evidenceLevels(
  records: number,
  learned: CalibratedLevels,
  scale: (raw: number) => number,
  request: RecallRequest,
  parts: RecallParts,
): GateLevels {
  const { minSimilarity, gateEvidence } = parts.config.recall;
  const isKnown = (parts.embedder.card.unrelatedCosine ?? learned.unrelated) !== null;
  const meaning = meaningLevel(records, learned, scale, parts);
  const floor = isKnown ? FLOOR_LEVEL : Math.min(meaning, minSimilarity) * 0.5;
  const evidence = levelForStore(records, 0, gateEvidence) * learned.beta ** PRECISION_EXPONENT;
  const share = request.deep ? 0.5 : 1;
  const weights = evidenceWeights(parts.questionDirections() !== null);
  return { evidence: evidence * share, meaning: meaning * share, floor: floor * share, weights };
}

/** What a store teaches moves the card's level by no more than this: a store of one topic must not close it. */
const MAX_SHIFT = 0.1;

function meaningLevel(
  records: number,
  { cosine, unrelated }: CalibratedLevels,
  scale: (raw: number) => number,
  parts: RecallParts,
): number {
  const { unrelatedCosine } = parts.embedder.card;
  const measured = cosine === null ? null : scale(cosine);
  if (unrelatedCosine === null && measured !== null) return measured;
  if (unrelatedCosine === null && unrelated === null) return parts.config.recall.minSimilarity;
  const guessed = levelForStore(records, MEANING_SMALL, MEANING_LARGE);
  if (measured === null) return guessed;
  return Math.min(guessed + MAX_SHIFT, Math.max(guessed - MAX_SHIFT, measured));
}

/** Least confidence before calibration: from 0.5 in an empty pool down to 0.2 at 500 rows and more. */
function heuristicMinimum(records: number): number {
  if (records <= 0) return 0.5;
  return Math.round((0.5 - 0.3 * Math.min(1, Math.log(records + 1) / Math.log(500))) * 10_000) / 10_000;
}

function passConfidence(
  candidates: readonly Candidate[],
  request: RecallRequest,
  parts: RecallParts,
): PassedGate {
  const pool = parts.pool(request.scope);
  const { confidence: measured, beta } = parts.levels(request.scope);
  // A measured level holds the precision already.
  const level = measured ?? heuristicMinimum(pool.memories + pool.episodes) * beta ** PRECISION_EXPONENT;
  const gate = level * (request.deep ? 0.5 : 1);
  const isSure = ({ confidence }: Candidate): boolean => confidence !== null && confidence.score >= gate;
  const passed = candidates.filter((candidate) => candidate.exact > 0 || isSure(candidate));
  const levels = { confidence: gate };
  const openedBy = passed.some(isSure) ? "confidence" : "identifier";
  if (passed.length > 0) return { passed, fallback: false, openedBy, levels };
  const byWords = candidates.filter(isKeywordHit);
  return {
    passed: byWords,
    fallback: byWords.length > 0,
    openedBy: byWords.length > 0 ? "gate_fallback" : null,
    levels,
  };
}
