// Search over the vectors that SQLite holds, while no index file can be used: they are read once into memory, the
// newest first and a little at a time, and searched there. Nothing here is written anywhere.

import { describeError } from "../errors.js";
import { log } from "../log.js";
import type { VectorIndex, VectorRows, VectorSearchResult } from "../native/contract.js";
import { nextTurn } from "../next-turn.js";
import { mergeResults } from "./merge-results.js";
import { rowsWithout, union } from "./row-sets.js";
import type { VectorAnswer, VectorQuery, VectorSource } from "./vector-source.js";

/** Rows read at once; other work waits so long. */
const BATCH_ROWS = 250;
/** A search waits for so many of the newest rows; older ones it finds as soon as they are read. */
const AWAITED_ROWS = 2000;
/** Batches searched before other work may run. */
const SEARCHED_BATCHES = 64;
/** Changes since a copy was begun from which on a new one is made beside it. */
const MANY_CHANGES = 512;
/** Changes from which on reading them with each search would cost more than beginning anew. */
const MOST_CHANGES = 8192;
/** Of vectors. Rows older than these are left to words until the files can be used. */
const MOST_BYTES = 512 * 2 ** 20;

/** The rows as they were at a moment, and later. */
interface Copy {
  /** the last change before it was begun: later ones are read with each search */
  readonly sequence: number;
  readonly batches: VectorRows[];
  rows: number;
  /** rows with smaller ids are still to be read; null at the start */
  before: number | null;
  /** nothing is left to be read */
  isFull: boolean;
  /** nobody needs the rest */
  isDropped: boolean;
}

export class StoredRows {
  readonly #source: VectorSource;
  readonly #scorer: VectorIndex;
  #copy: Copy | undefined;
  /** settles when the newest rows of the copy are there */
  #begun: Promise<void> = Promise.resolve();
  /** takes the copy's place when it is full */
  #next: Copy | undefined;
  #isClosed = false;

  /** `scorer`: an index that stays empty and scores rows that are handed to it */
  constructor(source: VectorSource, scorer: VectorIndex) {
    this.#source = source;
    this.#scorer = scorer;
  }

  /** Misses no change that is committed, and of older rows those that are not read yet. */
  async search(query: VectorQuery): Promise<VectorAnswer> {
    const { masked = null } = query;
    let { copy, changed } = this.#upToDate();
    for (let awaited: Copy | undefined; awaited !== copy; ) {
      awaited = copy;
      await this.#begun;
      // Searches one after the other would else leave no time for reading on.
      await nextTurn();
      ({ copy, changed } = this.#upToDate());
    }
    const left = masked === null ? null : new Set(masked);
    const isPartial = copy.before !== null;
    const results = [this.#score(query, this.#source.rowsOf(changed), left)];
    const hidden = changed.length === 0 ? left : new Set(union(changed, masked));
    for (const [i, rows] of copy.batches.slice().entries()) {
      if (i % SEARCHED_BATCHES === SEARCHED_BATCHES - 1) await nextTurn();
      if (this.#isClosed) break;
      results.push(this.#score(query, rows, hidden));
    }
    return { ...mergeResults(results, query.nearLimit, query.farLimit), isPartial };
  }

  #score(query: VectorQuery, rows: VectorRows, left: ReadonlySet<number> | null): VectorSearchResult {
    return this.#scorer.search({ ...query, masked: null, extra: rowsWithout(rows, left) });
  }

  /** A copy with the keys that changed since it was begun. */
  #upToDate(): { copy: Copy; changed: Float64Array } {
    const known = this.#copy;
    const changed = known === undefined ? null : this.#changedSince(known);
    if (known !== undefined && changed !== null && !known.isDropped) {
      if (changed.length > MANY_CHANGES && known.isFull && this.#next === undefined) this.#renew();
      return { copy: known, changed };
    }
    this.release();
    const copy = this.#newCopy();
    this.#copy = copy;
    this.#begun = this.#fill(copy, AWAITED_ROWS);
    this.#begun
      .then(() => this.#fillAll(copy))
      .catch(() => {
        copy.isDropped = true;
      });
    return { copy, changed: new Float64Array(0) };
  }

  /** Null when they are too many, or the log does not tell them any more. */
  #changedSince({ sequence }: Copy): Float64Array | null {
    const last = this.#source.lastSequence();
    if (last < sequence || last - sequence > MOST_CHANGES) return null;
    const changed = this.#source.changedAfter(sequence, last);
    // Looked at last: another process may shorten the log meanwhile.
    return sequence + 1 < this.#source.firstSequence() ? null : changed;
  }

  #renew(): void {
    const next = this.#newCopy();
    this.#next = next;
    this.#fillAll(next)
      .then(() => {
        if (next.isDropped) return;
        this.#copy = next;
        this.#next = undefined;
      })
      .catch(() => {});
  }

  #newCopy(): Copy {
    const sequence = this.#source.lastSequence();
    return { sequence, batches: [], rows: 0, before: null, isFull: false, isDropped: false };
  }

  /** Gives up quietly where the store is closed or fails: whoever searches next meets that. */
  async #fillAll(copy: Copy): Promise<void> {
    try {
      await this.#fill(copy, MOST_BYTES / (4 * this.#scorer.dimension));
      copy.isFull = true;
    } catch (error) {
      copy.isDropped = true;
      if (this.#next === copy) this.#next = undefined;
      log("debug", `the stored vectors were not read to the end: ${describeError(error)}`);
    }
  }

  /** Reads until the copy has so many rows or all. */
  async #fill(copy: Copy, most: number): Promise<void> {
    while (copy.rows < most && !copy.isFull && !copy.isDropped) {
      const { rows, next } = this.#source.rowsBefore(copy.before, BATCH_ROWS);
      copy.batches.push(rows);
      copy.rows += rows.keys.length;
      copy.before = next;
      copy.isFull = next === null;
      if (!copy.isFull) await nextTurn();
    }
  }

  /** Frees the memory, once the searches that run are done. */
  release(): void {
    for (const copy of [this.#copy, this.#next]) if (copy !== undefined) copy.isDropped = true;
    this.#copy = undefined;
    this.#next = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.release();
    this.#scorer.close();
  }
}
