// What ambient recall is asked, what it works with, and what it answers.

import type { Memory, MemoryKind } from "../domain/memory.js";
import type { Relation } from "../domain/relation.js";
import type { ReadScope } from "../domain/scope.js";
import type { RecordRow } from "../recall/candidate.js";
import type { RecallParts } from "../recall/recall-parts.js";
import type { AmbientConfig } from "../settings/ambient.js";
import type { CoUse } from "../store/uses.js";

export interface AmbientRequest {
  /** the current prompt */
  readonly query: string;
  /** earlier prompts, oldest first */
  readonly history: readonly string[];
  /** with `excludeTags` inside: it then holds for every row that is looked at */
  readonly scope: ReadScope;
  readonly directK: number;
  /** floor on the best row's calibrated cosine, or null */
  readonly minScore: number | null;
  /** least characters of the composed text */
  readonly minChars: number;
  /** how often a record was shown lately, by record key */
  readonly shown: ReadonlyMap<number, number>;
  readonly exposeBreakdown: boolean;
}

/** What the steps need of the store beside what recall needs. All reads: nothing is written. */
export interface AmbientParts {
  readonly recall: RecallParts;
  readonly config: AmbientConfig;
  readonly relationsOf: (keys: readonly number[]) => Relation[];
  readonly usedTogether: (keys: readonly number[]) => CoUse[];
  /** vectors of each record's blocks, unit norm */
  readonly vectorsOf: (keys: readonly number[]) => ReadonlyMap<number, readonly Float32Array[]>;
  readonly personas: (scope: ReadScope) => Memory[];
}

/** The parts of a row's score, all of them 0 where they do not apply. */
export interface Breakdown {
  readonly rawCosine: number;
  readonly virtualCosine: number;
  /** share of the score that came over relations and shared use from the direct rows */
  readonly wave: number;
  readonly mass: number;
  /** cosine to the chosen persona */
  readonly personaProximity: number;
  /** a word of the prompt found it */
  readonly byWords: boolean;
}

export interface AmbientRow {
  readonly key: number;
  readonly row: RecordRow;
  /** confidence value; null while confidence is off */
  readonly certainty: number | null;
  readonly ageDays: number;
  /** what its slot ordered it by */
  readonly score: number;
  /** the older record that it stands for, or null */
  readonly replaces: number | null;
  /** lensing rows only */
  readonly gap: number | null;
  readonly resonance: number | null;
  /** text of the newest record it is derived from */
  readonly because: RecordRow | null;
  readonly breakdown: Breakdown;
}

export interface Tension {
  readonly key: number;
  readonly row: RecordRow;
  readonly otherKey: number;
  readonly other: RecordRow;
}

export interface PersonaRow {
  readonly key: number;
  readonly memory: Memory;
  readonly kind: MemoryKind;
  readonly cosine: number;
  readonly mass: number;
}

export interface AmbientSlots {
  readonly direct: readonly AmbientRow[];
  readonly lensing: readonly AmbientRow[];
  readonly tensions: readonly Tension[];
  readonly persona: PersonaRow | null;
}

/** Why the block is there or not, for the log. */
export interface AmbientTrace {
  /** `open`, or what closed it: `short`, `small talk`, `evidence`, `min_score`, `empty` */
  readonly outcome: string;
  readonly openedBy: string | null;
  /** best coverage of the prompt's words, and best calibrated cosine (null without vectors) */
  readonly coverage: number;
  readonly cosine: number | null;
  readonly surprise: number;
  /** words and meaning of the best row together, and the level from which that opens */
  readonly weight: number;
  readonly level: number;
  readonly candidates: number;
  readonly composed: string;
}

export interface AmbientOutcome extends AmbientSlots {
  readonly trace: AmbientTrace;
  /** the words of the prompt, for choosing what part of a long text is shown */
  readonly terms: readonly string[];
}

export const NO_SLOTS: AmbientSlots = { direct: [], lensing: [], tensions: [], persona: null };
