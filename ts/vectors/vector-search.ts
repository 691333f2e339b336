// Search by meaning over everything that is committed: what the index holds, plus what it has not taken up yet.
// The index follows the change log in SQLite; any process may be behind, none may miss an acknowledged row.

import { describeError, MemoryError } from "../errors.js";
import { log } from "../log.js";
import type {
  VectorIndex,
  VectorIndexInfo,
  VectorRows,
  VectorSearchRequest,
  VectorSearchResult,
} from "../native/contract.js";
import { mergeResults } from "./merge-results.js";

/** The ground state for one embedder, see `store/embeddings.ts`. */
export interface VectorSource {
  /** sequence number of the last committed change */
  lastSequence(): number;
  /** smallest sequence number still in the log, 0 for an empty log */
  firstSequence(): number;
  /** distinct keys changed in `(after, until]`, ascending */
  changedAfter(after: number, until: number): Float64Array;
  rowsOf(keys: Float64Array): VectorRows;
  rowsAfter(afterId: number, limit: number): { rows: VectorRows; next: number | null };
}

/** `masked`: ascending keys that are left out, wherever their rows are. */
export type VectorQuery = Omit<VectorSearchRequest, "masked" | "extra"> &
  Partial<Pick<VectorSearchRequest, "masked">>;

interface Changes {
  /** changed records, ascending */
  readonly keys: Float64Array;
  /** the last change among them: another process may have committed more by the time they are taken up */
  readonly until: number;
}

export interface VectorSearchOptions {
  /** the index is this process's own arrays, not files shared with others */
  readonly inMemory: boolean;
  /** opens an index that stays empty, for scoring stored rows while the files are rebuilt */
  readonly openScratch: () => VectorIndex;
}

/** So many changed records are scored beside any index; more are taken up first. */
const MAX_OVERLAY_RECORDS = 512;
/** Beside a large index more are, up to half of what it holds: reading all of the store would take longer. */
const MAX_LARGE_OVERLAY_RECORDS = 8192;
/** Rows read from SQLite, or records taken up, before other work may run. */
const BATCH_ROWS = 1000;
/** Removed rows from which on a compaction is worth its writes, and their least share of all. */
const LEAST_REMOVED_ROWS = 1024;
const LEAST_REMOVED_SHARE = 0.25;
/** Publishing waits for the disk, so changes are collected for a while; searches see them at once all the same. */
const SYNC_DELAY_MS = 1000;
const SOON_MS = 20;
const CHEAP_OVERLAY_RECORDS = 64;
/** A full disk or a folder that cannot be written stays so for a while. */
const REST_MS = 10_000;

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
  #scratch: VectorIndex | undefined;

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

  async search(query: VectorQuery): Promise<VectorSearchResult> {
    let changed = this.#overlay();
    if (changed === null) {
      // In memory the take-up is this process's own work and quick; files are written in the background.
      if (this.#options.inMemory) await this.sync();
      else this.scheduleSync(SOON_MS);
      changed = this.#overlay();
    }
    if (changed === null) return this.#searchStore(query);
    try {
      return await this.#searchIndex(query, changed);
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
      extra: withoutKeys(this.#source.rowsOf(changed), masked),
    });
  }

  /** Scores the stored vectors batch by batch: slower than the index, and never behind. */
  async #searchStore(query: VectorQuery): Promise<VectorSearchResult> {
    this.#scratch ??= this.#options.openScratch();
    const { masked = null } = query;
    const results: VectorSearchResult[] = [];
    for (const rows of this.#batches()) {
      results.push(this.#scratch.search({ ...query, masked: null, extra: withoutKeys(rows, masked) }));
      await nextTurn();
      if (this.#closed) break;
    }
    return mergeResults(results, query.nearLimit, query.farLimit);
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

  /** What changed since the index was last written; null when only a rebuild can tell. */
  #changed(): Changes | null {
    const state = this.#state();
    if (state === null) return null;
    const { sequence } = state;
    const until = this.#source.lastSequence();
    if (sequence === until) return { keys: new Float64Array(0), until };
    if (sequence > until || sequence + 1 < this.#source.firstSequence()) return null;
    return { keys: this.#source.changedAfter(sequence, until), until };
  }

  /** The changed keys when they are few enough to be scored beside the index, else null. */
  #overlay(): Float64Array | null {
    const changed = this.#changed()?.keys ?? null;
    if (changed === null || changed.length <= MAX_OVERLAY_RECORDS) return changed;
    const most = Math.min(MAX_LARGE_OVERLAY_RECORDS, (this.#state()?.live ?? 0) / 2);
    return changed.length > most ? null : changed;
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
      void this.sync();
    }, due - Date.now());
    this.#timer.unref();
  }

  /** Brings the index up to date, unless another process is doing it. */
  sync(): Promise<void> {
    this.#syncing ??= this.#sync()
      .then(
        () => {
          this.#restUntil = 0;
        },
        (error) => {
          if (this.#closed) return;
          if (this.#restUntil === 0) log("warn", `vector index not updated: ${describeError(error)}`);
          this.#restUntil = Date.now() + REST_MS;
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
      const changed = this.#changed();
      if (changed === null || this.#isBroken || this.#index.info().sequence === 0) await this.#rebuild();
      else await this.#apply(changed);
      this.#isBroken = false;
      const { rows, live } = this.#index.info();
      if (rows - live >= Math.max(LEAST_REMOVED_ROWS, rows * LEAST_REMOVED_SHARE))
        await this.#index.compact();
    } finally {
      this.#index.unlock();
    }
  }

  /** Records that change again meanwhile come in as they are, and once more with the next update. */
  async #apply({ keys, until }: Changes): Promise<void> {
    if (keys.length === 0) return;
    for (let from = 0; from < keys.length; from += BATCH_ROWS) {
      const batch = keys.subarray(from, from + BATCH_ROWS);
      this.#index.remove(batch);
      this.#index.append(this.#source.rowsOf(batch));
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
    this.#scratch?.close();
    await this.#syncing;
  }
}

const NOTHING: VectorIndexInfo = { rows: 0, live: 0, sequence: 0, generation: 0, bytes: 0 };

function isUnusable(error: unknown): boolean {
  return error instanceof MemoryError && error.code === "index_unavailable";
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Both ascending lists as one. */
function union(a: Float64Array, b: Float64Array | null): Float64Array {
  return b === null ? a : Float64Array.from(new Set([...a, ...b])).sort();
}

function withoutKeys(rows: VectorRows, masked: Float64Array | null): VectorRows {
  if (masked === null) return rows;
  const out = new Set(masked);
  const kept = Array.from(rows.keys, (_, i) => i).filter((i) => !out.has(rows.keys[i] as number));
  if (kept.length === rows.keys.length) return rows;
  const dimension = rows.vectors.length / rows.keys.length;
  const vectors = new Float32Array(kept.length * dimension);
  for (const [to, from] of kept.entries())
    vectors.set(rows.vectors.subarray(from * dimension, (from + 1) * dimension), to * dimension);
  const pick = (values: Float64Array | Uint32Array): number[] => kept.map((i) => values[i] as number);
  return {
    keys: Float64Array.from(pick(rows.keys)),
    blocks: Uint32Array.from(pick(rows.blocks)),
    scopes: Uint32Array.from(pick(rows.scopes)),
    times: Float64Array.from(pick(rows.times)),
    vectors,
  };
}
