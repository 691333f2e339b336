// What stands behind an embedder that asks somebody else for vectors: a server, or a process that runs a model.
// `BackendEmbedder` adds what they have in common: cache, batches, pauses after failures, one identity.

import { LIMITS } from "../native/limits.js";
import type { EmbedderIdentity } from "./embedder.js";
import { EmbeddingError } from "./failure.js";

export interface BackendRequest {
  /** at least one text, none of them blank */
  readonly texts: readonly string[];
  readonly role: "query" | "document";
  readonly timeoutMs: number;
  /** ends the request when the embedder is closed */
  readonly signal: AbortSignal;
}

export interface BackendAnswer {
  /** unit vectors, one per text; null where a text has no direction */
  readonly vectors: readonly (Float32Array | null)[];
  readonly width: number;
  /** null when the backend does not tell */
  readonly model: string | null;
}

export interface Backend {
  /** `http`, `api`, `onnx`: the first part of the identity */
  readonly provider: string;
  /** most texts of one request */
  readonly textsPerRequest: number;
  /** What is wrong before anything is asked; null when nothing is known to be. */
  problem(): EmbeddingError | null;
  /** Null when only the first answer tells. */
  identity(): EmbedderIdentity | null;
  /** Rejects with `EmbeddingError`. */
  ask(request: BackendRequest): Promise<BackendAnswer>;
  close(): void;
}

/** A vector shorter than this has no direction worth keeping. */
const MIN_NORM = 1e-9;

/**
 * Checks rows of numbers as foreign input, and makes unit vectors of them. Throws `misconfigured` for a wrong
 * count, rows of unequal width, or numbers that float32 cannot hold. `who` begins the messages.
 */
export function toUnitVectors(
  rows: readonly unknown[],
  count: number,
  who: string,
): Pick<BackendAnswer, "vectors" | "width"> {
  const nonsense = (how: string) => new EmbeddingError("misconfigured", `${who} answered with ${how}`);
  if (rows.length !== count) throw nonsense(`${rows.length} vectors for ${count} texts`);
  const [first] = rows;
  const width = isRow(first) ? first.length : 0;
  if (width < 1 || width > LIMITS.maxDimension)
    throw nonsense(`vectors that are not 1 to ${LIMITS.maxDimension} numbers long`);
  const vectors = rows.map((row) => {
    if (!isRow(row) || row.length !== width) throw nonsense("vectors of unequal length");
    let squares = 0;
    for (const value of row) {
      if (typeof value !== "number" || !Number.isFinite(Math.fround(value)))
        throw nonsense("a value that is not a finite float32 number");
      squares += value * value;
    }
    const norm = Math.sqrt(squares);
    return norm <= MIN_NORM ? null : Float32Array.from(row as ArrayLike<number>, (value) => value / norm);
  });
  return { vectors, width };
}

function isRow(value: unknown): value is ArrayLike<unknown> & Iterable<unknown> {
  return Array.isArray(value) || value instanceof Float32Array;
}
