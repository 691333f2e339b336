// Search by meaning over everything that is committed: what the index holds, plus what it has not taken up yet.
// The index follows the change log in SQLite; any process may be behind, none may miss an acknowledged row.

import { describeError, MemoryError } from "../errors.js";
import { log } from "../log.js";
import type { VectorIndex, VectorIndexInfo, VectorRows, VectorSearchResult } from "../native/contract.js";
import { nextTurn } from "../next-turn.js";
import type { Supervisor } from "../supervisor.js";
import { rowsWithout, union } from "./row-sets.js";
import { StoredRows } from "./stored-rows.js";
import type { VectorAnswer, VectorQuery, VectorSource } from "./vector-source.js";

export type { VectorAnswer, VectorQuery } from "./vector-source.js";

interface Changes {
  /** changed records, ascending */
  readonly keys: Float64Array;
  /** the last change among them: another process may have committed more by the time they are taken up */
  readonly until: number;
}

export interface VectorSearchOptions {
  /** the index is this process's own arrays, not files shared with others */
  readonly inMemory: boolean;
  /** opens an index that stays empty, for scoring stored rows while the files cannot be used */
  readonly openScratch: () => VectorIndex;
  /** told how taking up goes */
  readonly supervisor: Supervisor;
}

/** So many changed records are scored beside any index; more are taken up first. */
const MAX_OVERLAY_RECORDS = 512;
/** Beside a large index more are, up to half of what it holds: reading all of the store would take longer. */
const MAX_LARGE_OVERLAY_RECORDS = 8192;
/** Rows read from SQLite, or records taken up, before other work may run. */
const BATCH_ROWS = 250;
/** Entries of the log that a changed record has, at most, on average: more are not read to be counted. */
const CHANGES_OF_A_RECORD = 8;
/** Removed rows from which on a compaction is worth its writes, and their least share of all. */
const LEAST_REMOVED_ROWS = 1024;
const LEAST_REMOVED_SHARE = 0.25;
/** Rows from which on sign bits are searched, and growth since they were made after which they are made anew. */
const LEAST_CENTRED_ROWS = 2048;
const CENTRED_GROWTH = 4;
/** Publishing waits for the disk, so changes are collected for a while; searches see them at once all the same. */
const SYNC_DELAY_MS = 1000;
const SOON_MS = 20;
const CHEAP_OVERLAY_RECORDS = 64;
/** Name of the take-up for people. */
const TAKE_UP = "the vector index";

export class VectorSearch {
  readonly #index: VectorIndex;
  readonly #source: VectorSource;
  readonly #options: VectorSearchOptions;
  #timer: NodeJS.Timeout | undefined;
  /** when the timer fires, ms since the epoch */
  #due = 0;
  #syncing: Promise<void> | undefined;
  #closed = false;
  /** the files could not be used when they were last looked at */
  #isBroken = false;
  /** ms since the epoch until which a failed update is not tried again; 0 after one that succeeded */
  #restUntil = 0;
  #stored: StoredRows | undefined;

  constructor(index: VectorIndex, source: VectorSource, options: VectorSearchOptions) {
    this.#index = index;
    this.#source = source;
    this.#options = options;
  }

  get dimension(): number {
    return this.#index.dimension;
  }

  info(): { rows: number; live: number; behind: number; generation: number; bytes: number } {
    const { sequence, ...info } = this.#state() ?? NOTHING;
    return { ...info, behind: Math.max(0, this.#source.lastSequence() - sequence) };
  }

  async search(query: VectorQuery): Promise<VectorAnswer> {
    let changed = this.#overlay();
    if (changed === null) {
      // In memory the take-up is this process's own work and quick; files are written in the background.
      if (this.#options.inMemory) await this.sync();
      else this.scheduleSync(SOON_MS);
      changed = this.#overlay();
    }
    if (changed === null) return this.#searchStore(query);
    try {
      const found = await this.#searchIndex(query, changed);
      this.#stored?.release();
      return { ...found, isPartial: false };
    } catch (error) {
      if (this.#closed || !isUnusable(error)) throw error;
      // Somebody damaged the files since they were looked at.
      this.#note(error);
      return this.#searchStore(query);
    }
  }

  #searchIndex(query: VectorQuery, changed: Float64Array): Promise<VectorSearchResult> {
    const { masked = null } = query;
    if (changed.length === 0) return this.#index.searchAsync({ ...query, masked, extra: null });
    // Scoring many rows beside the index costs every search; a few cost next to nothing.
    this.scheduleSync(changed.length > CHEAP_OVERLAY_RECORDS ? SOON_MS : SYNC_DELAY_MS);
    return this.#index.searchAsync({
      ...query,
      masked: union(changed, masked),
      extra: rowsWithout(this.#source.rowsOf(changed), masked === null ? null : new Set(masked)),
    });
  }

  #searchStore(query: VectorQuery): Promise<VectorAnswer> {
    this.#stored ??= new StoredRows(this.#source, this.#options.openScratch());
    return this.#stored.search(query);
  }

  *#batches(): Generator<VectorRows> {
    for (let after: number | null = 0; after !== null; ) {
      const { rows, next }: { rows: VectorRows; next: number | null } = this.#source.rowsAfter(
        after,
        BATCH_ROWS,
      );
      yield rows;
      after = next;
    }
  }

  /** What changed since the index was last written; null when only a rebuild can tell, or it is more than `most`. */
  #changes(most = Number.POSITIVE_INFINITY): Changes | null {
    const state = this.#state();
    if (state === null) return null;
    const { sequence } = state;
    const until = this.#source.lastSequence();
    if (sequence === until) return { keys: new Float64Array(0), until };
    if (sequence > until || until - sequence > most * CHANGES_OF_A_RECORD) return null;
    const keys = this.#source.changedAfter(sequence, until);
    // Looked at last: another process may shorten the log meanwhile.
    return keys.length > most || sequence + 1 < this.#source.firstSequence() ? null : { keys, until };
  }

  /** The changed keys when they are few enough to be scored beside the index, else null. */
  #overlay(): Float64Array | null {
    const live = this.#state()?.live ?? 0;
    const most = Math.max(MAX_OVERLAY_RECORDS, Math.min(MAX_LARGE_OVERLAY_RECORDS, live / 2));
    return this.#changes(most)?.keys ?? null;
  }

  /** Where the index stands; null for files that cannot be used and will be made anew. */
  #state(): VectorIndexInfo | null {
    try {
      return this.#index.info();
    } catch (error) {
      if (this.#closed || !isUnusable(error)) throw error;
      this.#note(error);
      return null;
    }
  }

  #note(error: unknown): void {
    if (!this.#isBroken) log("warn", `the stored vectors are searched instead: ${describeError(error)}`);
    this.#isBroken = true;
    this.scheduleSync(SOON_MS);
  }

  /** Takes up changes soon, off the caller's path. */
  scheduleSync(delayMs = SYNC_DELAY_MS): void {
    const due = Math.max(Date.now() + delayMs, this.#restUntil);
    if (this.#closed || (this.#timer !== undefined && this.#due <= due)) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.sync().catch(() => {});
    }, due - Date.now());
    this.#timer.unref();
  }

  /** Brings the index up to date, unless another process is doing it. */
  sync(): Promise<void> {
    this.#syncing ??= this.#sync()
      .then(
        () => {
          this.#restUntil = 0;
          this.#options.supervisor.succeeded(TAKE_UP);
        },
        (error) => {
          if (this.#closed) return;
          this.#restUntil = Date.now() + this.#options.supervisor.failed(TAKE_UP, error);
          this.scheduleSync();
        },
      )
      .finally(() => {
        this.#syncing = undefined;
      });
    return this.#syncing;
  }

  async #sync(): Promise<void> {
    if (this.#closed || !this.#index.lock()) return;
    try {
      const isUsable = !this.#isBroken && (this.#state()?.sequence ?? 0) > 0;
      const changes = isUsable ? this.#changes() : null;
      if (changes === null) await this.#rebuild();
      else await this.#apply(changes);
      this.#isBroken = false;
      if (isWorthCompaction(this.#index.info())) await this.#index.compact();
      if (!this.#options.inMemory) await this.#shortenLog();
    } finally {
      this.#index.unlock();
    }
  }

  /** Other processes have the same files, so what they hold is published for all. */
  async #shortenLog(): Promise<void> {
    const { sequence } = this.#index.info();
    try {
      while (!this.#closed && (await this.#source.shortenLog(sequence))) await nextTurn();
    } catch (error) {
      // Somebody else writes to the database: it is shortened another time.
      log("debug", `the log of vector changes stays as it is: ${describeError(error)}`);
    }
  }

  /** Records that change again meanwhile come in as they are, and once more with the next update. */
  async #apply({ keys, until }: Changes): Promise<void> {
    if (keys.length === 0) return;
    for (let from = 0; from < keys.length; from += BATCH_ROWS) {
      const part = keys.subarray(from, from + BATCH_ROWS);
      this.#index.remove(part);
      this.#index.append(this.#source.rowsOf(part));
      await nextTurn();
      if (this.#closed) return;
    }
    await this.#index.publishAsync(until);
  }

  /** Reads everything anew in batches, and lets other work run between them. */
  async #rebuild(): Promise<void> {
    // Changes that are committed meanwhile come in as log entries behind this number.
    const last = this.#source.lastSequence();
    this.#index.reset();
    for (const rows of this.#batches()) {
      this.#index.append(rows);
      await nextTurn();
      if (this.#closed) return;
    }
    await this.#index.publishAsync(last);
  }

  /** Whether every stored byte passes its checksum. Reads all of them, off the main thread. */
  async verify(): Promise<boolean> {
    try {
      await this.#index.verify();
      return true;
    } catch (error) {
      if (this.#closed || !isUnusable(error)) throw error;
      return false;
    }
  }

  /** Fills the index anew from the store, unless another process is writing to it. */
  async rebuild(): Promise<void> {
    await this.#syncing;
    this.#isBroken = true;
    await this.sync();
  }

  /** Ends background work, a compaction too: what was not taken up is in the change log. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#index.close();
    this.#stored?.close();
    await this.#syncing;
  }
}

const NOTHING: VectorIndexInfo = {
  rows: 0,
  live: 0,
  sequence: 0,
  generation: 0,
  centredRows: 0,
  bytes: 0,
};

/** Many removed rows cost every scan; sign bits made when there were few rows tell little about many. */
function isWorthCompaction({ rows, live, centredRows }: VectorIndexInfo): boolean {
  if (rows - live >= Math.max(LEAST_REMOVED_ROWS, rows * LEAST_REMOVED_SHARE)) return true;
  return live >= Math.max(LEAST_CENTRED_ROWS, centredRows * CENTRED_GROWTH);
}

function isUnusable(error: unknown): boolean {
  return error instanceof MemoryError && error.code === "index_unavailable";
}
