// What the native addon offers, and what its plain TypeScript twins (ts/native/twin/) offer in its place.
// Arrays are parallel: element i of each describes row i. A call reads its arguments before it returns
// (or, for the async form, copies them first); it never keeps or changes them.

/**
 * Identifies a record in the index: `id * 2` for a memory, `id * 2 + 1` for an episode. The index knows
 * only that the low bit is the record's class. Exact as a double up to 2^53.
 */
export type RecordKey = number;

/** `n` index rows, one per embedded block of text. */
export interface VectorRows {
  /** length n */
  readonly keys: Float64Array;
  /** length n; position of the block inside its record, 0 for the first */
  readonly blocks: Uint32Array;
  /** length n; scope code, see `store/scopes.ts` */
  readonly scopes: Uint32Array;
  /** length n; storage time of the record in ms since the epoch, finite */
  readonly times: Float64Array;
  /** length n × dimension, row-major, float32, unit rows */
  readonly vectors: Float32Array;
}

/**
 * Oldest record that still counts, for each class: `[time0, key0, time1, key1]`. A row counts when
 * `(time, key) >= (timeC, keyC)` for its class C. `-Infinity` times admit everything.
 */
export type AgeCut = Float64Array;

/** How the scan finds its candidates. Every method but the raw ones ends in exact float32 scores. */
export type SearchMethod = "auto" | "exact" | "int8" | "bits" | "int8-raw" | "bits-raw";

export interface VectorSearchRequest {
  /** length dimension, float32, unit norm */
  readonly query: Float32Array;
  /** scope codes that may be seen; null sees all */
  readonly scopes: Uint32Array | null;
  /** rows at or after this cut form the near list; null puts all rows there */
  readonly near: AgeCut | null;
  /** rows before `near` and at or after this cut form the far list; null means no far list */
  readonly far: AgeCut | null;
  /** most records in the near list, 0 or more */
  readonly nearLimit: number;
  /** most records in the far list, 0 or more */
  readonly farLimit: number;
  /** rows that score below this are left out; a cosine in [-1, 1] */
  readonly floor: number;
  /** ascending keys whose rows inside the index are ignored; null ignores none */
  readonly masked: Float64Array | null;
  /** ascending keys to which the search is restricted; null restricts nothing */
  readonly only: Float64Array | null;
  /** rows that the index does not hold yet, scored exactly with the rest; `masked` and duplicates do not touch them */
  readonly extra: VectorRows | null;
  readonly method: SearchMethod;
  /** threads that share the scan, 1 to 256, default 1; a twin checks it and uses one */
  readonly threads?: number;
}

/**
 * Best records, near list first. A record's score is its best block. Inside each list: score descending,
 * then newer time, then class 0 before class 1, then larger key.
 */
export interface VectorSearchResult {
  /** length of the near part; the rest is the far list */
  readonly nearCount: number;
  readonly keys: Float64Array;
  /** the block that gave the score */
  readonly blocks: Uint32Array;
  /** cosine, float32 dot product of unit vectors */
  readonly scores: Float32Array;
}

export interface VectorIndexInfo {
  /** rows published, removed ones included */
  readonly rows: number;
  /** rows published and not removed */
  readonly live: number;
  /** sequence number of the last change applied, 0 for an empty index */
  readonly sequence: number;
  readonly generation: number;
  /**
   * rows that the index held when a compaction last learned what their vectors share, which sign bits leave out;
   * a twin has no sign bits and says `live`
   */
  readonly centredRows: number;
  /** bytes of the mapped files, or of the arrays of a twin */
  readonly bytes: number;
}

/** A vector index, on disk (native) or in memory (twin). Dimension and identity are fixed at open. */
export interface VectorIndex {
  readonly dimension: number;
  info(): VectorIndexInfo;
  /** Tries to become the one writer among all processes; does not wait. A twin always succeeds. */
  lock(): boolean;
  unlock(): void;
  /** Appends rows behind the published ones. Needs the lock. Invisible to searches until `publish`. */
  append(rows: VectorRows): void;
  /** Marks all rows of these keys as removed. Needs the lock. Returns how many rows it marked. */
  remove(keys: Float64Array): number;
  /** Makes appended rows visible and records `sequence` as applied. Needs the lock. Durable before visible. */
  publish(sequence: number): void;
  /** `publish` that does not hold up the main thread while the disk is waited for. */
  publishAsync(sequence: number): Promise<void>;
  /**
   * Drops removed rows and learns the centre anew by writing a new generation, off the main thread; searches go
   * on. Needs the lock until it has settled. Resolves to false when `close` ended it.
   */
  compact(): Promise<boolean>;
  /** Empties the index into a new generation with sequence 0. Needs the lock. */
  reset(): void;
  search(request: VectorSearchRequest): VectorSearchResult;
  searchAsync(request: VectorSearchRequest): Promise<VectorSearchResult>;
  /** Checks every stored byte off the main thread; rejects with `index_unavailable` when the files are damaged. */
  verify(): Promise<void>;
  /** Later calls throw `index_unavailable`; a compaction that runs gives up. */
  close(): void;
}

export interface VectorIndexOptions {
  /** folder of the index files; null keeps the index in memory (twins only) */
  readonly folder: string | null;
  readonly dimension: number;
  /** 16 bytes that name database and embedder; an index with another identity is emptied when opened */
  readonly identity: Uint8Array;
}

/** Ranked lists to fuse: list i is `keys[offsets[i] .. offsets[i + 1]]`, best first. */
export interface RankedLists {
  readonly keys: Float64Array;
  /** length lists + 1 */
  readonly offsets: Uint32Array;
  /** length lists; a list's share of the vote, 0 or more */
  readonly weights: Float64Array;
}

/** Fused rows, score descending; equal scores keep the order in which the lists first named them. */
export interface FusedRanking {
  readonly keys: Float64Array;
  readonly scores: Float64Array;
}

export interface Fusion {
  /** Reciprocal rank fusion (Cormack et al. 2009): sum of `weight / (k + rank)`, rank from 1. `k` > 0. */
  rrf(lists: RankedLists, k: number): FusedRanking;
  /**
   * Relative score fusion: each list's scores min-max normalised (all equal or all NaN give 1, NaN among
   * numbers gives 0), times weight, summed, divided by the number of lists that hold a row.
   * `scores` is parallel to `lists.keys`.
   */
  rsf(lists: RankedLists, scores: Float64Array): FusedRanking;
}

/** The static token table of `assets/static-multilingual` (its README has format and algorithm). */
export interface StaticTable {
  readonly dimension: number;
  /** length dimension; the unit direction that every text shares */
  readonly centre: Float32Array;
  /** piece ids of a text */
  encode(text: string): Uint32Array;
  /** n × dimension, row-major, unit rows; a text without pieces gives a zero row */
  embed(texts: readonly string[]): Float32Array;
}

/** Everything that runs natively where it can. */
export interface NativeCore {
  readonly kind: "native" | "twin";
  /** instruction set in use: `avx512`, `avx2`, `neon`, `scalar`; `typescript` for the twins */
  readonly simd: string;
  readonly version: string;
  readonly fusion: Fusion;
  openVectorIndex(options: VectorIndexOptions): VectorIndex;
  openStaticTable(path: string): StaticTable;
  /**
   * XOR of all whole 32-bit words, by 1 to 256 threads: reads memory and does nothing else, the yardstick of
   * benchmarks. Null in an addon that was built without what benchmarks need.
   */
  readonly xorWords: ((bytes: Uint8Array, threads: number) => number) | null;
}
