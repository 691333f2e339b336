// How recall ranks and gates: settings with their ranges and measured defaults.

import type { SettingReader } from "./reader.js";

export type RecallMode = "rrf" | "rsf" | "cascade";

export interface EpisodePenaltyConfig {
  /** `CPERSONA_EPISODE_PENALTY_ENABLED`, default true */
  readonly enabled: boolean;
  /** `CPERSONA_EPISODE_DECAY_RATE`: per hour before the boundary, default 0.01 */
  readonly rate: number;
  /** `CPERSONA_EPISODE_DECAY_FLOOR`: lowest factor, default 0.5 */
  readonly floor: number;
}

/** Constants of the confidence formula, see recall/confidence.ts. */
export interface ConfidenceConfig {
  /** `CPERSONA_CONFIDENCE_ENABLED`: confidence orders and gates, default false */
  readonly enabled: boolean;
  /** `CPERSONA_COSINE_FLOOR`, `CPERSONA_COSINE_CEIL`: calibrated cosines taken to 0 and 1, default 0.2 and 0.75 */
  readonly cosineFloor: number;
  readonly cosineCeil: number;
  /** `CPERSONA_DECAY_RATE`: per hour, default 0.005 */
  readonly decayRate: number;
  /** `CPERSONA_DECAY_FLOOR`, `CPERSONA_DECAY_CEIL`: lowest decay, and the highest floor that use lifts it to, default 0.3 and 0.5 */
  readonly decayFloor: number;
  readonly decayCeil: number;
  /** `CPERSONA_RECALL_BOOST`: times ln(1 + uses), default 0.02 */
  readonly boost: number;
  /** `CPERSONA_BOOST_DECAY_RATE`: per hour since the last use, default 0.002 */
  readonly boostDecayRate: number;
  /** `CPERSONA_MIN_TIME_RANGE_HOURS`: least span of a store, default 24 */
  readonly minRangeHours: number;
  /** `CPERSONA_REFERENCE_HOURS`: span up to which the rate is not slowed, default 168 */
  readonly referenceHours: number;
  /** `CPERSONA_RESOLVED_DECAY_FACTOR`: for resolved episodes, default 0.3 */
  readonly resolvedFactor: number;
  /** `CPERSONA_RECENT_RECALL_PENALTY`, `CPERSONA_RECENT_RECALL_WINDOW_MIN`: for rows recalled just now, default 0.7 and 5 minutes */
  readonly recentFactor: number;
  readonly recentWindowMinutes: number;
}

export interface AutocutConfig {
  /** `CPERSONA_AUTOCUT_ENABLED`, default true */
  readonly enabled: boolean;
  /** `CPERSONA_AUTOCUT_MIN_GAP_RATIO`: smallest gap that cuts, as a share of the top score, default 0.15 */
  readonly minGapRatio: number;
  /** `CPERSONA_AUTOCUT_MIN_RESULTS`: fewer rows are never cut, default 3, at least 2 */
  readonly minResults: number;
}

export interface RecallConfig {
  /** `CPERSONA_RECALL_MODE`: `rrf` (default), `rsf`, `cascade` */
  readonly mode: RecallMode;
  /** `CPERSONA_MAX_MEMORIES`: vector scan window, newest rows, memories and episodes each, default 10000 */
  readonly window: number;
  /** `CPERSONA_VECTOR_REACH`: rows behind the window that form the far list, default 0 */
  readonly reach: number;
  /** `CPERSONA_VECTOR_FAR_LIMIT`: most rows of the far list, default 0 = the response's limit */
  readonly farLimit: number;
  /** `CPERSONA_RECALL_DEPTH_FLOOR`: least rows the vector lists hand to the fusion, default 0 = the response's limit */
  readonly depthFloor: number;
  /** `CPERSONA_LEXICAL_DEPTH`: least rows the lists by words hand to the fusion, default 100 (measured: +1.7 recall@10) */
  readonly lexicalDepth: number;
  /** `CPERSONA_RRF_K`: constant of reciprocal rank fusion, default 3 (measured on dialogue: 10 loses 2.1 recall@10, 60 loses 4.5) */
  readonly rrfK: number;
  /** `CPERSONA_NEIGHBOUR_SHARE`: share of a row's score that the rows said next to it get, default 0.4, 0 = off */
  readonly neighbourShare: number;
  /** `CPERSONA_NEIGHBOUR_MINUTES`: rows further apart are no neighbours, default 5 */
  readonly neighbourMinutes: number;
  /** `CPERSONA_VECTOR_MIN_SIMILARITY`: calibrated cosine of a hit by meaning before calibration, default 0.3 */
  readonly minSimilarity: number;
  /** `CPERSONA_GATE_EVIDENCE`: evidence that opens an answer in a large store (coverage + 0.8 × level), default 0.62 */
  readonly gateEvidence: number;
  readonly episodePenalty: EpisodePenaltyConfig;
  readonly confidence: ConfidenceConfig;
  readonly autocut: AutocutConfig;
}

export function readRecall(read: SettingReader): RecallConfig {
  return {
    mode: read.choice("CPERSONA_RECALL_MODE", ["rrf", "rsf", "cascade"], "rrf"),
    window: read.integer("CPERSONA_MAX_MEMORIES", { fallback: 10_000, min: 1 }),
    reach: read.integer("CPERSONA_VECTOR_REACH", { fallback: 0, min: 0 }),
    farLimit: read.integer("CPERSONA_VECTOR_FAR_LIMIT", { fallback: 0, min: 0 }),
    depthFloor: read.integer("CPERSONA_RECALL_DEPTH_FLOOR", { fallback: 0, min: 0, max: 10_000 }),
    lexicalDepth: read.integer("CPERSONA_LEXICAL_DEPTH", { fallback: 100, min: 0, max: 10_000 }),
    rrfK: read.integer("CPERSONA_RRF_K", { fallback: 3, min: 1 }),
    neighbourShare: read.number("CPERSONA_NEIGHBOUR_SHARE", { fallback: 0.4, min: 0, max: 1 }),
    neighbourMinutes: read.number("CPERSONA_NEIGHBOUR_MINUTES", { fallback: 5, min: 0 }),
    minSimilarity: read.number("CPERSONA_VECTOR_MIN_SIMILARITY", { fallback: 0.3, min: -1, max: 1 }),
    gateEvidence: read.number("CPERSONA_GATE_EVIDENCE", { fallback: 0.62, min: 0, max: 2 }),
    episodePenalty: {
      enabled: read.boolean("CPERSONA_EPISODE_PENALTY_ENABLED", true),
      rate: read.number("CPERSONA_EPISODE_DECAY_RATE", { fallback: 0.01, min: 0 }),
      floor: read.number("CPERSONA_EPISODE_DECAY_FLOOR", { fallback: 0.5, min: 0, max: 1 }),
    },
    confidence: {
      enabled: read.boolean("CPERSONA_CONFIDENCE_ENABLED", false),
      cosineFloor: read.number("CPERSONA_COSINE_FLOOR", { fallback: 0.2, min: -1, max: 1 }),
      cosineCeil: read.number("CPERSONA_COSINE_CEIL", { fallback: 0.75, min: -1, max: 1 }),
      decayRate: read.number("CPERSONA_DECAY_RATE", { fallback: 0.005, min: 0 }),
      decayFloor: read.number("CPERSONA_DECAY_FLOOR", { fallback: 0.3, min: 0, max: 1 }),
      decayCeil: read.number("CPERSONA_DECAY_CEIL", { fallback: 0.5, min: 0, max: 1 }),
      boost: read.number("CPERSONA_RECALL_BOOST", { fallback: 0.02, min: 0 }),
      boostDecayRate: read.number("CPERSONA_BOOST_DECAY_RATE", { fallback: 0.002, min: 0 }),
      minRangeHours: read.number("CPERSONA_MIN_TIME_RANGE_HOURS", { fallback: 24, min: 0 }),
      referenceHours: read.number("CPERSONA_REFERENCE_HOURS", { fallback: 168, min: 1e-6 }),
      resolvedFactor: read.number("CPERSONA_RESOLVED_DECAY_FACTOR", { fallback: 0.3, min: 0, max: 1 }),
      recentFactor: read.number("CPERSONA_RECENT_RECALL_PENALTY", { fallback: 0.7, min: 0, max: 1 }),
      recentWindowMinutes: read.number("CPERSONA_RECENT_RECALL_WINDOW_MIN", { fallback: 5, min: 0 }),
    },
    autocut: {
      enabled: read.boolean("CPERSONA_AUTOCUT_ENABLED", true),
      minGapRatio: read.number("CPERSONA_AUTOCUT_MIN_GAP_RATIO", { fallback: 0.15, min: 0, max: 1 }),
      minResults: read.integer("CPERSONA_AUTOCUT_MIN_RESULTS", { fallback: 3, min: 2 }),
    },
  };
}
