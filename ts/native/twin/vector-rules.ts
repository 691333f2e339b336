// Shape checks of everything that crosses the vector index's interface, done once at the edge so that the
// scan itself needs none. It knows lengths and ranges, not what the numbers mean.

import { invalidArgument, MemoryError } from "../../errors.js";
import type {
  AgeCut,
  SearchMethod,
  VectorIndexOptions,
  VectorRows,
  VectorSearchRequest,
} from "../contract.js";
import { LIMITS } from "../limits.js";

const METHODS: ReadonlySet<string> = new Set<SearchMethod>([
  "auto",
  "exact",
  "int8",
  "bits",
  "int8-raw",
  "bits-raw",
]);

/** Throws `invalid_argument` unless the options can open an index. */
export function checkOptions(options: VectorIndexOptions): void {
  const { dimension, identity } = options;
  if (!Number.isInteger(dimension) || dimension < 1 || dimension > LIMITS.maxDimension) {
    throw invalidArgument("dimension", `must be a whole number from 1 to ${LIMITS.maxDimension}`);
  }
  if (identity.length !== LIMITS.identityBytes)
    throw invalidArgument("identity", `must be ${LIMITS.identityBytes} bytes`);
}

/** Throws `invalid_argument` unless the arrays are parallel, the keys exact, vectors and times finite. */
export function checkRows(field: string, rows: VectorRows, dimension: number): void {
  const count = rows.keys.length;
  if (rows.blocks.length !== count) throw invalidArgument(`${field}.blocks`, "must be as long as keys");
  if (rows.scopes.length !== count) throw invalidArgument(`${field}.scopes`, "must be as long as keys");
  if (rows.times.length !== count) throw invalidArgument(`${field}.times`, "must be as long as keys");
  checkKeys(`${field}.keys`, rows.keys);
  if (!rows.times.every(Number.isFinite)) throw invalidArgument(`${field}.times`, "must be finite");
  checkVectors(`${field}.vectors`, rows.vectors, count * dimension);
}

/** Throws `invalid_argument` unless every key is a whole number from 0 to 2^53 - 1. */
export function checkKeys(field: string, keys: Float64Array): void {
  const areExact = keys.every((key) => Number.isSafeInteger(key) && key >= 0);
  if (!areExact) throw invalidArgument(field, "must be whole numbers from 0 to 2^53 - 1");
}

export function checkSequence(sequence: number): void {
  if (!Number.isSafeInteger(sequence) || sequence < 0) {
    throw invalidArgument("sequence", "must be a whole number from 0 to 2^53 - 1");
  }
}

/** Throws `invalid_argument` unless the request fits an index of this dimension. */
export function checkRequest(request: VectorSearchRequest, dimension: number): void {
  checkVectors("query", request.query, dimension);
  checkCut("near", request.near);
  checkCut("far", request.far);
  checkLimit("nearLimit", request.nearLimit);
  checkLimit("farLimit", request.farLimit);
  if (Number.isNaN(request.floor)) throw invalidArgument("floor", "must be a number");
  checkAscending("masked", request.masked);
  checkAscending("only", request.only);
  if (request.extra !== null) checkRows("extra", request.extra, dimension);
  if (!METHODS.has(request.method)) throw invalidArgument("method", "must be one of the known methods");
  if (request.threads !== undefined) checkThreads(request.threads);
}

/** Throws `invalid_argument` unless so many threads may share a scan. */
export function checkThreads(threads: number): void {
  if (!Number.isInteger(threads) || threads < 1 || threads > LIMITS.maxThreads) {
    throw invalidArgument("threads", `must be a whole number from 1 to ${LIMITS.maxThreads}`);
  }
}

/** The error of a call that came after `close`. */
export function closedError(): MemoryError {
  return new MemoryError("index_unavailable", "the vector index is closed");
}

/** The error of a write without the writer's lock. */
export function unlockedError(): MemoryError {
  return new MemoryError("index_unavailable", "the vector index is not locked by this process");
}

function checkVectors(field: string, vectors: Float32Array, length: number): void {
  if (vectors.length !== length) throw invalidArgument(field, `must hold ${length} numbers`);
  if (!vectors.every(Number.isFinite)) throw invalidArgument(field, "must be finite");
}

function checkCut(field: string, cut: AgeCut | null): void {
  if (cut === null) return;
  if (cut.length !== 4) throw invalidArgument(field, "must hold four numbers");
  if (cut.some(Number.isNaN)) throw invalidArgument(field, "must not hold NaN");
}

function checkLimit(field: string, limit: number): void {
  if (!Number.isInteger(limit) || limit < 0 || limit > LIMITS.maxList) {
    throw invalidArgument(field, "must be a whole number from 0 to 2^32 - 1");
  }
}

function checkAscending(field: string, keys: Float64Array | null): void {
  if (keys === null) return;
  checkKeys(field, keys);
  let previous = Number.NEGATIVE_INFINITY;
  for (const key of keys) {
    if (key < previous) throw invalidArgument(field, "must be ascending");
    previous = key;
  }
}
