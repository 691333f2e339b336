// Answers about calibration and precision.

import type { CalibrationOutcome, PrecisionState } from "../service/calibration-service.js";
import type { WireObject } from "./rows.js";

export function calibrationAnswer(agentId: string, outcome: CalibrationOutcome): WireObject {
  const { calibration, request } = outcome;
  return {
    ok: true,
    sidecar_persisted: true,
    scope: agentId === "" ? "global" : "per_agent",
    agent_id: agentId,
    sampled_embeddings: calibration.sampled,
    num_pairs: calibration.pairs,
    method: request.method,
    z_factor: request.zFactor,
    percentile: request.percentile,
    embedding_dim: outcome.dimension,
    embedding_model: outcome.identity,
    distribution: mapNumbers({ ...calibration.distribution }),
    null_admit_rate: round(calibration.nullAdmitRate),
    old_threshold: round(outcome.oldThreshold),
    new_threshold: round(calibration.threshold),
    unrelated_median: round(calibration.unrelated),
    proxy_source: "rare_words",
    youden_j: round(calibration.youdenJ),
    pos_admit_rate: round(calibration.positiveAdmitRate),
    pos_mean: round(calibration.positiveMean),
    fused_gate: fusedGate(outcome),
    precision_override_applied: false,
  };
}

/** The gate of the answer as a whole: what it is keyed by and how strict it is. */
function fusedGate({ calibration }: CalibrationOutcome): WireObject {
  return {
    threshold: round(calibration.threshold),
    signal: "cosine",
    beta: calibration.beta,
    youden_j: round(calibration.youdenJ),
    queries_run: calibration.sampled,
    null_admit_rate: round(calibration.nullAdmitRate),
    pos_admit_rate: round(calibration.positiveAdmitRate),
    null_mean: round(calibration.distribution.mean),
    pos_mean: round(calibration.positiveMean),
  };
}

export function precisionSetAnswer(
  agentId: string,
  wanted: number | null,
  state: PrecisionState,
  outcome: CalibrationOutcome,
): WireObject {
  return {
    ok: true,
    agent_id: agentId,
    precision: state.precision,
    beta: state.beta,
    cleared: wanted === null,
    fused_gate: fusedGate(outcome),
    calibrate: {
      ok: true,
      scope: agentId === "" ? "global" : "per_agent",
      new_threshold: round(outcome.calibration.threshold),
    },
  };
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

function mapNumbers(values: Readonly<Record<string, number>>): WireObject {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, round(value)]));
}
