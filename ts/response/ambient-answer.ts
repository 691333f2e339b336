// The answer of ambient_recall as data. Keys are GaOTTT's; those that stand for its physics are there with
// their neutral values, so that readers of the one can read the other.

import { annotationSource, excerptOf } from "../ambient/block.js";
import type { AmbientRow, Breakdown, PersonaRow, Tension } from "../ambient/types.js";
import { formatRef, recordOfKey } from "../domain/record.js";
import type { AmbientAnswer } from "../service/ambient-service.js";
import type { WireObject } from "./rows.js";

export function ambientAnswer(answer: AmbientAnswer, excerptChars: number): WireObject {
  const shape = { excerptChars, terms: answer.terms, breakdown: answer.exposeBreakdown };
  return {
    text: answer.text,
    direct: answer.direct.map((row) => toRow(row, shape)),
    lensing: answer.lensing.map((row) => toRow(row, shape)),
    dormant: [],
    tensions: answer.tensions.map((tension) => toTension(tension, shape)),
    persona: answer.persona === null ? null : toPersona(answer.persona, shape),
    count: answer.direct.length + answer.lensing.length,
    gate: {
      outcome: answer.trace.outcome,
      opened_by: answer.trace.openedBy,
      coverage: rounded(answer.trace.coverage),
      cosine: answer.trace.cosine === null ? null : rounded(answer.trace.cosine),
    },
  };
}

interface Shape {
  readonly excerptChars: number;
  readonly terms: readonly string[];
  readonly breakdown: boolean;
}

function toRow(row: AmbientRow, shape: Shape): WireObject {
  return {
    id: refOf(row.key),
    content: excerptOf(row.row, shape),
    source: annotationSource(row.row),
    tags: row.row.kind === "mem" ? [...row.row.memory.tags] : [],
    certainty: row.certainty,
    age_days: rounded(row.ageDays),
    virtual_score: rounded(row.breakdown.virtualCosine),
    final_score: rounded(row.score),
    lensing_gap: row.gap === null ? null : rounded(row.gap),
    lensing_resonance: row.resonance === null ? null : rounded(row.resonance),
    because: row.because === null ? null : excerptOf(row.because, shape),
    ...(row.replaces === null ? {} : { supersedes: refOf(row.replaces) }),
    breakdown: shape.breakdown ? toBreakdown(row.breakdown, row.gap) : null,
  };
}

function toBreakdown(breakdown: Breakdown, gap: number | null): WireObject {
  return {
    raw_cosine: rounded(breakdown.rawCosine),
    virtual_cosine: rounded(breakdown.virtualCosine),
    decay_factor: 1,
    wave_score: rounded(breakdown.wave),
    mass_boost: rounded(breakdown.mass),
    emotion_term: 0,
    certainty_term: 0,
    saturation: 1,
    persona_proximity: rounded(breakdown.personaProximity),
    bm25_contributed: breakdown.byWords,
    forced_inclusion: false,
    node_mass: rounded(breakdown.mass),
    bm25_score: 0,
    lensing_gap: rounded(gap ?? 0),
    dormant_percentile: null,
    reason: null,
  };
}

function toTension({ key, row, otherKey, other }: Tension, shape: Shape): WireObject {
  return {
    memory_id: refOf(key),
    memory_excerpt: excerptOf(row, shape),
    contradicts_id: refOf(otherKey),
    contradicts_excerpt: excerptOf(other, shape),
  };
}

function toPersona({ key, memory, kind, cosine, mass }: PersonaRow, shape: Shape): WireObject {
  const breakdown: Breakdown = {
    rawCosine: cosine,
    virtualCosine: cosine,
    wave: 0,
    mass,
    personaProximity: 0,
    byWords: false,
  };
  return {
    id: refOf(key),
    kind,
    content: excerptOf({ kind: "mem", memory }, { ...shape, terms: [] }),
    breakdown: shape.breakdown ? toBreakdown(breakdown, null) : null,
  };
}

function refOf(key: number): string {
  return formatRef(recordOfKey(key));
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
