// Confidence for every row of a ranking, when it is switched on: then it orders and gates.

import { parseInstant } from "../domain/time.js";
import type { Use } from "../store/uses.js";
import { type Candidate, rowTime } from "./candidate.js";
import { type ConfidenceContext, type ConfidenceInput, confidence } from "./confidence.js";
import type { RecallParts, RecallRequest } from "./recall-parts.js";
import { cosineScale } from "./scale.js";

export function confidenceContext(request: RecallRequest, parts: RecallParts): ConfidenceContext {
  return { now: parts.clock.now(), span: parts.memorySpan(request.scope), deep: request.deep };
}

/** Leaves the candidates as they are while confidence is off. */
export function withConfidence(
  candidates: readonly Candidate[],
  queryVector: Float32Array | null,
  request: RecallRequest,
  parts: RecallParts,
): readonly Candidate[] {
  const config = parts.config.recall.confidence;
  if (!config.enabled || candidates.length === 0) return candidates;
  const context = confidenceContext(request, parts);
  const filled = fillCosines(candidates, queryVector, parts);
  const scale = cosineScale(parts, parts.levels(request.scope));
  const uses = parts.uses(filled.map(({ key }) => key));
  return filled.map((candidate) => ({
    ...candidate,
    confidence: confidence(toInput(candidate, uses.get(candidate.key), scale), context, config),
  }));
}

/** Rows found by words only get the cosine of their stored vector, so that all rows are judged alike. */
function fillCosines(
  candidates: readonly Candidate[],
  query: Float32Array | null,
  parts: RecallParts,
): readonly Candidate[] {
  const missing = candidates.filter(({ cosine }) => cosine === null).map(({ key }) => key);
  const search = query === null || missing.length === 0 ? null : parts.vectors();
  if (query === null || search === null) return candidates;
  const cosines = search.cosinesOf(missing, query);
  return candidates.map((candidate) => {
    const cosine = candidate.cosine ?? cosines.get(candidate.key) ?? null;
    return cosine === candidate.cosine ? candidate : { ...candidate, cosine };
  });
}

function toInput(
  { row, cosine }: Candidate,
  use: Use | undefined,
  scale: (raw: number) => number,
): ConfidenceInput {
  return {
    cosine: cosine === null ? null : scale(cosine),
    instant: parseInstant(rowTime(row)),
    resolved: row.kind === "ep" && row.episode.resolved,
    recallCount: use?.recallCount ?? 0,
    lastRecalled: parseInstant(use?.lastRecalledAt),
  };
}
