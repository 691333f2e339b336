// Looking through all records in steps that hold nobody up: what compares every record with something else must
// not do so in one query.

import type { RecordKind } from "../domain/record.js";
import type { Database } from "./database.js";
import { RECORD_TABLES } from "./records.js";

/** Records looked at in one step: about 5 ms. */
export const STEP_RECORDS = 10_000;

/** A step through the records of a kind, newest first. */
export interface RecordStep {
  readonly ids: number[];
  /** the id below which to go on; null at the end */
  readonly next: number | null;
}

/**
 * The ids among the next records below `before` (null: from the newest on) that `find` gives, at most `limit`.
 * `find` is asked for ids from `low` up to and not including `high`, newest first.
 */
export function stepThrough(
  db: Database,
  { kind, before, limit }: { kind: RecordKind; before: number | null; limit: number },
  find: (low: number, high: number) => number[],
): RecordStep {
  const table = RECORD_TABLES[kind];
  const high = before ?? Number(db.value(`SELECT coalesce(max(id), 0) FROM ${table}`)) + 1;
  const low = Math.max(1, high - STEP_RECORDS);
  const ids = find(low, high);
  const isFull = ids.length === limit;
  return { ids, next: isFull ? (ids[ids.length - 1] ?? null) : low > 1 ? low : null };
}
