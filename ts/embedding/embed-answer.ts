// Reads the answer of an `/embed` server as foreign input: nothing of it is used before its shape, width and
// numbers are checked. Hands out unit vectors.

import { EmbeddingError } from "./failure.js";

const MAX_WIDTH = 16_384;
const MAX_MODEL_CHARS = 256;
/** A vector shorter than this has no direction worth keeping. */
const MIN_NORM = 1e-9;

export interface EmbedAnswer {
  /** one per text; null where a vector has no direction */
  readonly vectors: (Float32Array | null)[];
  readonly width: number;
  /** null when the server does not tell */
  readonly model: string | null;
}

/**
 * Checks `{"embeddings": [[number, ...], ...], "model"?: string}` for `count` texts, `count` at least 1. Throws
 * `misconfigured` for a wrong count, rows of unequal width, or numbers that float32 cannot hold.
 */
export function readEmbedAnswer(answer: unknown, count: number): EmbedAnswer {
  const rows = fieldOf(answer, "embeddings");
  if (!Array.isArray(rows)) throw nonsense("without embeddings");
  if (rows.length !== count) throw nonsense(`with ${rows.length} vectors for ${count} texts`);
  const first: unknown = rows[0];
  const width = Array.isArray(first) ? first.length : 0;
  if (width < 1 || width > MAX_WIDTH)
    throw nonsense(`with vectors that are not 1 to ${MAX_WIDTH} numbers long`);
  const vectors = rows.map((row: unknown) => toUnitVector(row, width));
  return { vectors, width, model: readModel(fieldOf(answer, "model")) };
}

function toUnitVector(row: unknown, width: number): Float32Array | null {
  if (!Array.isArray(row) || row.length !== width) throw nonsense("with vectors of unequal length");
  let squares = 0;
  for (const value of row as unknown[]) {
    if (typeof value !== "number" || !Number.isFinite(Math.fround(value))) {
      throw nonsense("with a value that is not a finite float32 number");
    }
    squares += value * value;
  }
  const norm = Math.sqrt(squares);
  return norm <= MIN_NORM ? null : Float32Array.from(row as number[], (value) => value / norm);
}

/** The name goes into labels and logs, so it is kept short and free of control characters. */
function readModel(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const name = value.replace(/\p{C}/gu, "").trim().slice(0, MAX_MODEL_CHARS);
  return name === "" ? null : name;
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[field] : undefined;
}

function nonsense(how: string): EmbeddingError {
  return new EmbeddingError("misconfigured", `the embedding server answered ${how}`);
}
