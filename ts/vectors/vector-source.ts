// What a vector search is built on, what it is asked, and what it answers.

import type { VectorRows, VectorSearchRequest, VectorSearchResult } from "../native/contract.js";

/** The ground state for one embedder, see `store/embeddings.ts`. */
export interface VectorSource {
  /** sequence number of the last committed change */
  lastSequence(): number;
  /** smallest sequence number still in the log; of an empty one the next it would have */
  firstSequence(): number;
  /** Removes some log entries that no index needs, `sequence` being published. Whether more are left. */
  shortenLog(sequence: number): Promise<boolean>;
  /** distinct keys changed in `(after, until]`, ascending */
  changedAfter(after: number, until: number): Float64Array;
  rowsOf(keys: Float64Array): VectorRows;
  /** in the order in which they were stored, behind this id; the id to go on from, null at the end */
  rowsAfter(afterId: number, limit: number): { rows: VectorRows; next: number | null };
  /** newest first, before this id; null begins with the newest */
  rowsBefore(beforeId: number | null, limit: number): { rows: VectorRows; next: number | null };
}

/** `masked`: ascending keys that are left out, wherever their rows are. */
export type VectorQuery = Omit<VectorSearchRequest, "masked" | "extra"> &
  Partial<Pick<VectorSearchRequest, "masked">>;

export interface VectorAnswer extends VectorSearchResult {
  /** older rows were not looked at: the index is made anew, and they are not read yet */
  readonly isPartial: boolean;
}
