// Confidence: cosine, age, use and state of a row blended into one value. Not a match strength: an exact
// match on an old row can lie below a paraphrase. Formula: reference, section 7.

import type { ConfidenceConfig } from "../settings/recall.js";

export interface ConfidenceInput {
  /** calibrated cosine; null when the row has no vector */
  readonly cosine: number | null;
  /** the row's moment, ms since the epoch; null when it names none */
  readonly instant: number | null;
  /** a closed episode */
  readonly resolved: boolean;
  readonly recallCount: number;
  /** ms since the epoch; null when it was never recalled */
  readonly lastRecalled: number | null;
}

export interface ConfidenceContext {
  /** ms since the epoch */
  readonly now: number;
  /** moments of the oldest and newest memory in scope; null when none is readable */
  readonly span: { readonly oldest: number; readonly newest: number } | null;
  /** a deep recall knows no age, no state and no recent use */
  readonly deep: boolean;
}

export interface Confidence {
  /** hours, one decimal */
  readonly ageHours: number;
  /** the age is a guess: the row names no moment */
  readonly ageUnknown: boolean;
  readonly resolved: boolean;
  /** four decimals; null when the row has no vector */
  readonly cosine: number | null;
  /** 0 to 1, four decimals */
  readonly score: number;
}

const HOUR_MS = 3_600_000;

export function confidence(
  input: ConfidenceInput,
  context: ConfidenceContext,
  config: ConfidenceConfig,
): Confidence {
  const { span, now, deep } = context;
  const spanHours = span === null ? 0 : (span.newest - span.oldest) / HOUR_MS;
  const rangeHours = Math.max(config.minRangeHours, spanHours);
  const ageHours =
    input.instant === null ? guessedAge(context, rangeHours) : Math.max(0, (now - input.instant) / HOUR_MS);
  const decay = deep
    ? 1
    : Math.max(
        decayFloor(input, now, config),
        1 / (1 + ageHours * slowedRate(spanHours, rangeHours, config)),
      );
  const state = input.resolved && !deep ? config.resolvedFactor : 1;
  const recent = !deep && isRecent(input, now, config) ? config.recentFactor : 1;
  const cosine = input.cosine === null ? 1 : normalisedCosine(input.cosine, config);
  return {
    ageHours: round(ageHours, 1),
    ageUnknown: input.instant === null,
    resolved: input.resolved,
    cosine: input.cosine === null ? null : round(input.cosine, 4),
    score: round(Math.sqrt(cosine * decay) * state * recent, 4),
  };
}

/** A row without a moment counts as half as old as the store. */
function guessedAge({ span, now }: ConfidenceContext, rangeHours: number): number {
  if (span === null) return rangeHours / 2;
  return Math.max(0, (now - span.newest) / HOUR_MS) + (span.newest - span.oldest) / HOUR_MS / 2;
}

/** Over a long history a row ages more slowly. */
function slowedRate(spanHours: number, rangeHours: number, config: ConfidenceConfig): number {
  return spanHours > 0
    ? config.decayRate / Math.max(1, rangeHours / config.referenceHours)
    : config.decayRate;
}

/** Use lifts the floor, and the lift fades when the last use is long ago. */
function decayFloor(
  { recallCount, lastRecalled }: ConfidenceInput,
  now: number,
  config: ConfidenceConfig,
): number {
  const hours = lastRecalled === null ? 0 : Math.max(0, (now - lastRecalled) / HOUR_MS);
  const boost = (Math.log(1 + recallCount) * config.boost) / (1 + hours * config.boostDecayRate);
  return Math.min(config.decayCeil, config.decayFloor + boost);
}

function isRecent({ lastRecalled }: ConfidenceInput, now: number, config: ConfidenceConfig): boolean {
  return lastRecalled !== null && now - lastRecalled < config.recentWindowMinutes * 60_000;
}

function normalisedCosine(cosine: number, { cosineFloor, cosineCeil }: ConfidenceConfig): number {
  if (cosineCeil <= cosineFloor) return 0;
  return Math.min(1, Math.max(0, (cosine - cosineFloor) / (cosineCeil - cosineFloor)));
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
