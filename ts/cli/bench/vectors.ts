// Vectors to search: random directions, or real embeddings multiplied by mixing, both seeded and made in
// batches, so that a million rows need no memory of their own.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Embedder } from "../../embedding/embedder.js";
import { invalidArgument } from "../../errors.js";
import { seededRandom } from "../../maintenance/separation.js";
import type { VectorRows } from "../../native/contract.js";

/** Unit rows by the number of their batch: the same number gives the same rows. */
export interface VectorMaker {
  /** for the table */
  readonly name: string;
  readonly dimension: number;
  /** `count` × dimension, row-major */
  make(count: number, seed: number): Float32Array;
}

/** Scopes that the rows are spread over, one after the other. */
export const SCOPES = 16;
const FIRST_TIME = 1.7e12;

export function randomVectors(dimension: number): VectorMaker {
  return {
    name: "random",
    dimension,
    make: (count, seed) => {
      const random = seededRandom(seed);
      const out = new Float32Array(count * dimension);
      for (let row = 0; row < count; row++) {
        const vector = out.subarray(row * dimension, (row + 1) * dimension);
        // The sum of three uniform values is near enough to normal for a direction, and quick.
        for (let j = 0; j < dimension; j++) vector[j] = random() + random() + random() - 1.5;
        normalise(vector);
      }
      return out;
    },
  };
}

/** So many texts are embedded; a slow embedder needs minutes for more. */
const MOST_TEXTS = 10_000;

/**
 * Embeddings of the texts, multiplied: a row is the unit vector along `w a + (1 - w) b` of two texts drawn at
 * random, with w from 0.5 to 1. So each text is the topic of many rows, and no two rows are equal.
 */
export async function mixedVectors(
  texts: readonly string[],
  embedder: Pick<Embedder, "embedDocuments" | "identity">,
): Promise<VectorMaker> {
  const asked = texts.slice(0, MOST_TEXTS);
  const vectors: Float32Array[] = [];
  for (let from = 0; from < asked.length; from += 256)
    for (const vector of await embedder.embedDocuments(asked.slice(from, from + 256)))
      if (vector !== null) vectors.push(vector);
  const dimension = vectors[0]?.length;
  if (dimension === undefined) throw invalidArgument("texts", "must hold texts that the embedder knows");
  return {
    name: `embeddings (${embedder.identity()?.provider})`,
    dimension,
    make: (count, seed) => {
      const random = seededRandom(seed);
      const pick = (): Float32Array => vectors[Math.floor(random() * vectors.length)] as Float32Array;
      const out = new Float32Array(count * dimension);
      for (let row = 0; row < count; row++) {
        const [a, b, w] = [pick(), pick(), 0.5 + random() / 2];
        const vector = out.subarray(row * dimension, (row + 1) * dimension);
        for (let j = 0; j < dimension; j++) vector[j] = w * (a[j] as number) + (1 - w) * (b[j] as number);
        normalise(vector);
      }
      return out;
    },
  };
}

function normalise(vector: Float32Array): void {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const scale = 1 / Math.sqrt(sum);
  for (let j = 0; j < vector.length; j++) vector[j] = (vector[j] ?? 0) * scale;
}

/** Index rows of consecutive memories, stored a second apart, spread over the scopes. */
export function asRows(vectors: Float32Array, dimension: number, firstId: number): VectorRows {
  const count = vectors.length / dimension;
  return {
    keys: Float64Array.from({ length: count }, (_, i) => keyOf(firstId + i)),
    blocks: new Uint32Array(count),
    scopes: Uint32Array.from({ length: count }, (_, i) => 1 + ((firstId + i) % SCOPES)),
    times: Float64Array.from({ length: count }, (_, i) => timeOf(firstId + i)),
    vectors,
  };
}

function keyOf(id: number): number {
  return id * 2;
}

export function timeOf(id: number): number {
  return FIRST_TIME + id * 1000;
}

/** All strings of 20 characters and more in the JSON, text and Markdown files of a folder, each once. */
export function readTexts(folder: string): string[] {
  const texts = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === "string") {
      if (value.length >= 20) texts.add(value.slice(0, 300));
    } else if (typeof value === "object" && value !== null) Object.values(value).forEach(visit);
  };
  for (const name of filesOf(folder)) {
    const text = readFileSync(join(folder, name), "utf8");
    if (name.endsWith(".json")) visit(JSON.parse(text));
    else if (/\.(txt|md)$/.test(name)) text.split(/\n\n+/).forEach(visit);
  }
  if (texts.size === 0) throw invalidArgument("texts", "must be a folder with .json, .txt or .md files");
  return [...texts];
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
  } catch {
    throw invalidArgument("texts", "must be a folder that can be read");
  }
}
