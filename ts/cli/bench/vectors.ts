// Vectors to search: random directions, or real ones from the embedded default, both seeded.

import { seededRandom } from "../../maintenance/separation.js";
import type { StaticTable, VectorRows } from "../../native/contract.js";

/** `rows` random unit vectors, row-major. */
export function randomUnitRows(rows: number, dimension: number, seed: number): Float32Array {
  const random = seededRandom(seed);
  const out = new Float32Array(rows * dimension);
  for (let row = 0; row < rows; row++) {
    const vector = out.subarray(row * dimension, (row + 1) * dimension);
    // The sum of three uniform values is near enough to normal for a direction, and quick.
    for (let j = 0; j < dimension; j++) vector[j] = random() + random() + random() - 1.5;
    normalise(vector);
  }
  return out;
}

/** Embeddings of sentences drawn from `texts`: two to four neighbouring stretches each, so that rows differ but topics repeat. */
export function embeddedRows(
  texts: readonly string[],
  rows: number,
  table: StaticTable,
  seed: number,
): Float32Array {
  const random = seededRandom(seed);
  const pick = (): string => texts[Math.floor(random() * texts.length)] ?? "";
  const out = new Float32Array(rows * table.dimension);
  const batch = 1000;
  for (let from = 0; from < rows; from += batch) {
    const size = Math.min(batch, rows - from);
    const mixed = Array.from({ length: size }, () => `${pick()} ${pick()}`);
    out.set(table.embed(mixed), from * table.dimension);
  }
  return out;
}

function normalise(vector: Float32Array): void {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const scale = 1 / Math.sqrt(sum);
  for (let j = 0; j < vector.length; j++) vector[j] = (vector[j] ?? 0) * scale;
}

/** Index rows of consecutive memories in one scope, stored a second apart. */
export function asRows(vectors: Float32Array, dimension: number, firstId: number): VectorRows {
  const count = vectors.length / dimension;
  return {
    keys: Float64Array.from({ length: count }, (_, i) => (firstId + i) * 2),
    blocks: new Uint32Array(count),
    scopes: new Uint32Array(count).fill(1),
    times: Float64Array.from({ length: count }, (_, i) => 1.7e12 + (firstId + i) * 1000),
    vectors,
  };
}
