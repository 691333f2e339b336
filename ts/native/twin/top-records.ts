// The best records of one result list: at most `limit`, each with its best block, in the contract's order.
// It compares scores; it does not make them.

import type { RecordKey } from "../contract.js";

/** A record as its best block so far shows it. */
export interface RankedRecord {
  readonly key: RecordKey;
  readonly block: number;
  readonly time: number;
  readonly score: number;
}

/**
 * Bounded insertion into a sorted array. Dropping a record when it falls off the end is safe: the last place
 * only ever gets better, so no worse block of the same record could come back.
 */
export class TopRecords {
  readonly limit: number;
  readonly #ranked: RankedRecord[] = [];
  readonly #byKey = new Map<RecordKey, RankedRecord>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Best first. */
  get ranked(): readonly RankedRecord[] {
    return this.#ranked;
  }

  offer(key: RecordKey, block: number, time: number, score: number): void {
    const last = this.#ranked.at(-1);
    const isFull = this.#ranked.length >= this.limit;
    // Most rows end here, before an object is made for them.
    if (isFull && (last === undefined || score < last.score)) return;
    const record: RankedRecord = { key, block, time, score };
    if (isFull && last !== undefined && compare(record, last) > 0) return;

    const known = this.#byKey.get(key);
    if (known !== undefined) {
      if (compare(record, known) >= 0) return;
      this.#ranked.splice(this.#placeOf(known), 1);
    } else if (isFull && last !== undefined) {
      this.#ranked.pop();
      this.#byKey.delete(last.key);
    }
    this.#ranked.splice(this.#placeOf(record), 0, record);
    this.#byKey.set(key, record);
  }

  /** Number of ranked records that come before `record`. */
  #placeOf(record: RankedRecord): number {
    let low = 0;
    let high = this.#ranked.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(this.#ranked[middle] as RankedRecord, record) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * Negative when `a` ranks before `b`: higher score, newer time, class 0 before class 1, larger key; for two
 * blocks of one record the earlier block.
 */
function compare(a: RankedRecord, b: RankedRecord): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.time !== b.time) return b.time - a.time;
  if (a.key !== b.key) return (a.key % 2) - (b.key % 2) || b.key - a.key;
  return a.block - b.block;
}
