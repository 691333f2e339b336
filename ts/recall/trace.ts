// What each step of a recall did, when the caller asks: rows and time per step, and for each row of the
// answer the lists that named it. References only, no texts.

import { formatRef, recordOfKey } from "../domain/record.js";
import { type Candidate, orderScore } from "./candidate.js";

export interface TraceStage {
  readonly stage: string;
  readonly rows: number;
  /** milliseconds */
  readonly ms: number;
}

export interface TraceRow {
  readonly ref: string;
  /** 1 for the best */
  readonly rank: number;
  /** 1-based position in each list that named it */
  readonly lists: Readonly<Record<string, number>>;
  readonly score: number | null;
  readonly fused: number | null;
  readonly fromNeighbours: number;
  readonly cosine: number | null;
  readonly coverage: number | null;
  readonly penalty: number;
  readonly confidence: number | null;
}

export interface RecallTrace {
  readonly stages: readonly TraceStage[];
  readonly openedBy: string | null;
  readonly levels: Readonly<Record<string, number>>;
  readonly rows: readonly TraceRow[];
}

/** Measures steps; costs two clock readings each, so it runs always. */
export class StageClock {
  readonly stages: TraceStage[] = [];
  #last = performance.now();

  mark(stage: string, rows: number): void {
    const now = performance.now();
    this.stages.push({ stage, rows, ms: Math.round((now - this.#last) * 1000) / 1000 });
    this.#last = now;
  }
}

/** Expects candidates best first. */
export function traceRows(candidates: readonly Candidate[]): TraceRow[] {
  return candidates.map((candidate, i) => ({
    ref: formatRef(recordOfKey(candidate.key)),
    rank: i + 1,
    lists: Object.fromEntries(Object.entries(candidate.ranks).map(([list, rank]) => [list, rank + 1])),
    score: orderScore(candidate),
    fused: candidate.fused,
    fromNeighbours: candidate.fromNeighbours,
    cosine: candidate.cosine,
    coverage: candidate.coverage,
    penalty: candidate.penalty,
    confidence: candidate.confidence?.score ?? null,
  }));
}
