// Search by meaning over everything that is committed: what the index holds, plus what it has not taken up yet.
// The index follows the change log in SQLite; any process may be behind, none may miss an acknowledged row.

import { describeError } from "../errors.js";
import { log } from "../log.js";
import type { VectorIndex, VectorRows, VectorSearchRequest, VectorSearchResult } from "../native/contract.js";
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

export interface VectorSearchOptions {
  /** the index is this process's own arrays, not files shared with others */
  readonly inMemory: boolean;
  /** opens an empty index in memory, for searching the store itself while the files are rebuilt */
  readonly openScratch: () => VectorIndex;
}

/** So many changed records are scored beside the index; more are taken up first. */
const MAX_OVERLAY_RECORDS = 512;
const REBUILD_BATCH_ROWS = 2000;
/** Publishing waits for the disk, so changes are collected for a while; searches see them at once all the same. */
const SYNC_DELAY_MS = 1000;
const SOON_MS = 20;
const CHEAP_OVERLAY_RECORDS = 64;

export class VectorSearch {
  readonly #index: VectorIndex;
  readonly #source: VectorSource;
  readonly #options: VectorSearchOptions;
  #timer: NodeJS.Timeout | undefined;
  /** when the timer fires, ms since the epoch */
  #due = 0;
  #syncing: Promise<void> | undefined;
  #closed = false;

  constructor(index: VectorIndex, source: VectorSource, options: VectorSearchOptions) {
    this.#index = index;
    this.#source = source;
    this.#options = options;
  }

  get dimension(): number {
    return this.#index.dimension;
  }

  info(): { rows: number; live: number; behind: number; generation: number; bytes: number } {
    const { sequence, ...info } = this.#index.info();
    return { ...info, behind: Math.max(0, this.#source.lastSequence() - sequence) };
  }

  async search(query: VectorQuery): Promise<VectorSearchResult> {
    let changed = this.#changed();
    if (changed === null || changed.length > MAX_OVERLAY_RECORDS) {
      // In memory the take-up is this process's own work and quick; files are written in the background.
      if (this.#options.inMemory) await this.sync();
      else this.scheduleSync(SOON_MS);
      changed = this.#changed();
    }
    if (changed === null || changed.length > MAX_OVERLAY_RECORDS) return this.#searchStore(query);
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
    const results: VectorSearchResult[] = [];
    for (const rows of this.#batches()) {
      const scratch = this.#options.openScratch();
      scratch.lock();
      scratch.append(rows);
      scratch.publish(1);
      results.push(scratch.search({ ...query, masked: query.masked ?? null, extra: null }));
      scratch.close();
      await nextTurn();
    }
    return mergeResults(results, query.nearLimit, query.farLimit);
  }

  *#batches(): Generator<VectorRows> {
    for (let after: number | null = 0; after !== null; ) {
      const { rows, next }: { rows: VectorRows; next: number | null } = this.#source.rowsAfter(
        after,
        REBUILD_BATCH_ROWS,
      );
      yield rows;
      after = next;
    }
  }

  /** Keys changed since the index was last written; null when only a rebuild can tell. */
  #changed(): Float64Array | null {
    const { sequence } = this.#index.info();
    const last = this.#source.lastSequence();
    if (sequence === last) return new Float64Array(0);
    if (sequence > last || sequence + 1 < this.#source.firstSequence()) return null;
    return this.#source.changedAfter(sequence, last);
  }

  /** Takes up changes soon, off the caller's path. */
  scheduleSync(delayMs = SYNC_DELAY_MS): void {
    const due = Date.now() + delayMs;
    if (this.#closed || (this.#timer !== undefined && this.#due <= due)) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.sync();
    }, delayMs);
    this.#timer.unref();
  }

  /** Brings the index up to date, unless another process is doing it. */
  sync(): Promise<void> {
    this.#syncing ??= this.#sync()
      .catch((error) => log("warn", `vector index not updated: ${describeError(error)}`))
      .finally(() => {
        this.#syncing = undefined;
      });
    return this.#syncing;
  }

  async #sync(): Promise<void> {
    if (this.#closed || !this.#index.lock()) return;
    try {
      const changed = this.#changed();
      if (changed === null || this.#index.info().sequence === 0) await this.#rebuild();
      else this.#apply(changed);
    } finally {
      this.#index.unlock();
    }
  }

  #apply(changed: Float64Array): void {
    if (changed.length === 0) return;
    const last = this.#source.lastSequence();
    this.#index.remove(changed);
    this.#index.append(this.#source.rowsOf(changed));
    this.#index.publish(last);
  }

  /** Reads everything anew in batches, and lets other work run between them. */
  async #rebuild(): Promise<void> {
    // Changes that are committed meanwhile come in as log entries behind this number.
    const last = this.#source.lastSequence();
    this.#index.reset();
    for (const rows of this.#batches()) {
      if (this.#closed) return;
      this.#index.append(rows);
      await nextTurn();
    }
    this.#index.publish(last);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#syncing;
    this.#index.close();
  }
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
