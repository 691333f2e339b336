// What the steps of a recall hand to each other: candidates before the gate, hits behind it.

import type { Episode, Memory } from "../domain/memory.js";
import type { RecordKind } from "../domain/record.js";

/** Which value keyed a row in ranking and gate; the first of these that a row has. */
export type Signal = "confidence" | "rsf" | "cosine" | "rrf";

/** A record found by at least one retriever, before texts are read. */
export interface Candidate {
  /** record key, see domain/record.ts */
  readonly key: number;
  /** fused value of the mode; absent in cascade */
  score?: number;
  /** raw cosine of its best block, when the vector scan found it */
  cosine?: number;
  /** found by a content word, an identifier or a substring of the query */
  keyword: boolean;
}

/** A stored row with its text. */
export type RecordRow =
  | { readonly kind: "mem"; readonly memory: Memory }
  | { readonly kind: "ep"; readonly episode: Episode };

export interface MatchReason {
  readonly signal: Signal;
  readonly score: number;
  readonly cosine?: number;
  readonly rrf?: number;
  readonly rsf?: number;
}

/** A row of the answer, whole: readers' cuts are made in response/. */
export interface Hit {
  readonly row: RecordRow;
  /** absent on rows that carry no score */
  readonly matchReason?: MatchReason;
}

export function rowId(row: RecordRow): number {
  return row.kind === "mem" ? row.memory.id : row.episode.id;
}

export interface RankedList {
  readonly kind: RecordKind | "both";
  /** record keys, best first */
  readonly keys: readonly number[];
}
