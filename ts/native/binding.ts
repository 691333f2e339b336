// The addon's exports, and a `NativeCore` over them. Arguments are checked once, on the native side; here
// error codes become `MemoryError`, and the tagged outcome of a task becomes a value or a throw.

import { MemoryError, type MemoryErrorCode } from "../errors.js";
import type {
  FusedRanking,
  NativeCore,
  StaticTable,
  VectorIndex,
  VectorIndexInfo,
  VectorIndexOptions,
  VectorRows,
  VectorSearchRequest,
  VectorSearchResult,
} from "./contract.js";
import type { Limits } from "./limits.js";

/** What the addon exports. `crates/node/src` has the other side, file by file. */
export interface NativeBinding {
  addonVersion(): string;
  /** absent in an addon that is older than the table of limits */
  limits?(): Limits;
  simdLevel(): string;
  forceSimd(level: string): void;
  fuseRrf(keys: Float64Array, offsets: Uint32Array, weights: Float64Array, k: number): FusedRanking;
  fuseRsf(
    keys: Float64Array,
    offsets: Uint32Array,
    weights: Float64Array,
    scores: Float64Array,
  ): FusedRanking;
  readonly NativeStaticTable: { open(path: string): BoundStaticTable };
  readonly NativeVectorIndex: {
    open(folder: string, dimension: number, identity: Uint8Array): BoundVectorIndex;
  };
  // What tests and benchmarks call; the published addon is built without it.
  xorWords?(bytes: Uint8Array, threads: number): number;
  panicForTest?(): void;
  panicForTestAsync?(): Promise<TaskOutcome<number>>;
}

interface BoundStaticTable {
  dimension(): number;
  centre(): Float32Array;
  encode(text: string): Uint32Array;
  embed(texts: readonly string[]): Float32Array;
}

interface BoundVectorIndex {
  info(): VectorIndexInfo;
  lock(): boolean;
  unlock(): void;
  append(rows: VectorRows): void;
  remove(keys: Float64Array): number;
  publish(sequence: number): void;
  publishAsync(sequence: number): Promise<TaskOutcome<boolean>>;
  compact(): Promise<TaskOutcome<boolean>>;
  reset(): void;
  verify(): Promise<TaskOutcome<boolean>>;
  search(request: VectorSearchRequest): VectorSearchResult;
  searchAsync(request: VectorSearchRequest): Promise<TaskOutcome<VectorSearchResult>>;
  close(): void;
}

/** A task can't reject with a code of ours, so it resolves to one of these. */
export type TaskOutcome<T> = { readonly result: T } | NativeFailure;

/** How a failure arrives, thrown or as an outcome. */
interface NativeFailure {
  readonly code: string;
  readonly message: string;
  /** name of the argument that broke its rule */
  readonly field?: string;
}

export function nativeCore(binding: NativeBinding): NativeCore {
  const { xorWords } = binding;
  return {
    kind: "native",
    simd: binding.simdLevel(),
    version: binding.addonVersion(),
    fusion: {
      rrf: ({ keys, offsets, weights }, k) => coded(() => binding.fuseRrf(keys, offsets, weights, k)),
      rsf: ({ keys, offsets, weights }, scores) =>
        coded(() => binding.fuseRsf(keys, offsets, weights, scores)),
    },
    openVectorIndex: (options) => openNativeVectorIndex(binding, options),
    xorWords: xorWords === undefined ? null : (bytes, threads) => coded(() => xorWords(bytes, threads)),
    openStaticTable: (path) => coded(() => new NativeTable(binding.NativeStaticTable.open(path))),
  };
}

function openNativeVectorIndex(binding: NativeBinding, options: VectorIndexOptions): VectorIndex {
  const { folder, dimension, identity } = options;
  if (folder === null) {
    throw new MemoryError("invalid_argument", "folder must be a path for a native index", {
      field: "folder",
    });
  }
  const bound = coded(() => binding.NativeVectorIndex.open(folder, dimension, identity));
  return new NativeIndex(bound, dimension);
}

class NativeTable implements StaticTable {
  readonly dimension: number;
  readonly centre: Float32Array;
  readonly #table: BoundStaticTable;

  constructor(table: BoundStaticTable) {
    this.#table = table;
    this.dimension = table.dimension();
    this.centre = table.centre();
  }

  encode(text: string): Uint32Array {
    return coded(() => this.#table.encode(text));
  }

  embed(texts: readonly string[]): Float32Array {
    return coded(() => this.#table.embed(texts));
  }
}

class NativeIndex implements VectorIndex {
  readonly dimension: number;
  readonly #index: BoundVectorIndex;

  constructor(index: BoundVectorIndex, dimension: number) {
    this.#index = index;
    this.dimension = dimension;
  }

  info(): VectorIndexInfo {
    return coded(() => this.#index.info());
  }

  lock(): boolean {
    return coded(() => this.#index.lock());
  }

  unlock(): void {
    coded(() => this.#index.unlock());
  }

  append(rows: VectorRows): void {
    coded(() => this.#index.append(rows));
  }

  remove(keys: Float64Array): number {
    return coded(() => this.#index.remove(keys));
  }

  publish(sequence: number): void {
    coded(() => this.#index.publish(sequence));
  }

  async publishAsync(sequence: number): Promise<void> {
    settled(await coded(() => this.#index.publishAsync(sequence)));
  }

  async compact(): Promise<boolean> {
    return settled(await coded(() => this.#index.compact()));
  }

  reset(): void {
    coded(() => this.#index.reset());
  }

  async verify(): Promise<void> {
    settled(await coded(() => this.#index.verify()));
  }

  search(request: VectorSearchRequest): VectorSearchResult {
    return coded(() => this.#index.search(request));
  }

  async searchAsync(request: VectorSearchRequest): Promise<VectorSearchResult> {
    return settled(await coded(() => this.#index.searchAsync(request)));
  }

  close(): void {
    coded(() => this.#index.close());
  }
}

/** Runs a native call; what it throws becomes a `MemoryError`. */
export function coded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw toMemoryError(failureOf(error), error);
  }
}

/** The value of a task, or its failure thrown. */
export function settled<T>(outcome: TaskOutcome<T>): T {
  if ("result" in outcome) return outcome.result;
  throw toMemoryError(outcome, undefined);
}

const CODES: ReadonlySet<string> = new Set<MemoryErrorCode>([
  "invalid_argument",
  "index_unavailable",
  "embedding_failed",
  "invalid_setting",
]);

/** A thrown value as a failure; what is not one of ours becomes `internal`. */
function failureOf(error: unknown): NativeFailure {
  const { code, message, field } = error as { code?: unknown; message?: unknown; field?: unknown };
  const failure = { code: String(code), message: String(message) };
  return typeof field === "string" ? { ...failure, field } : failure;
}

function toMemoryError({ code, message, field }: NativeFailure, cause: unknown): MemoryError {
  if (CODES.has(code)) {
    const options = field === undefined ? { cause } : { cause, field };
    return new MemoryError(code as MemoryErrorCode, message, options);
  }
  // The binding's own words for a value of the wrong type.
  if (code === "InvalidArg" || code.endsWith("Expected")) {
    return new MemoryError("invalid_argument", "an argument has the wrong type", { cause });
  }
  return new MemoryError("internal", "the native code failed", { cause: cause ?? new Error(message) });
}
