// Learns from a store what its unrelated texts look like to its embedder: sentences of records are asked
// of the store, and their own record is compared with the nearest record that shares hardly a word.
// Deterministic: the sample is drawn with a fixed seed.

import type { Memory } from "../domain/memory.js";
import { indexTerms, queryTerms } from "../domain/terms.js";
import { cutChars } from "../domain/text.js";
import { MemoryError } from "../errors.js";
import { coverage, weighWords } from "../recall/coverage.js";
import {
  admitted,
  type Distribution,
  describeScores,
  quantile,
  seededRandom,
  separate,
} from "./separation.js";

export type CalibrationMethod = "separation" | "percentile" | "zscore";

export interface CalibrateRequest {
  /** most records asked about, 1 to 5000, default 200 */
  readonly sampleSize: number;
  readonly method: CalibrationMethod;
  /** method `zscore`: standard deviations above the mean of the nulls */
  readonly zFactor: number;
  /** method `percentile`: share of the nulls below the threshold, 0 to 1 */
  readonly percentile: number;
  /** weight of keeping unrelated rows out against letting related ones in */
  readonly beta: number;
  /** with too few unrelated rows, take any two different rows for unrelated instead of refusing */
  readonly acceptRelated: boolean;
}

/** What a calibration learned, on the scale of raw cosines. */
export interface Calibration {
  /** median cosine of unrelated texts */
  readonly unrelated: number;
  /** cosine from which meaning alone opens an answer */
  readonly threshold: number;
  readonly beta: number;
  readonly sampled: number;
  /** unrelated pairs compared */
  readonly pairs: number;
  readonly distribution: Distribution;
  readonly nullAdmitRate: number;
  readonly positiveAdmitRate: number;
  readonly positiveMean: number;
  readonly youdenJ: number;
  /** rows in scope when it was made */
  readonly rows: number;
}

export interface CalibrateParts {
  /** ids of the scope's memories, ascending */
  readonly ids: () => readonly number[];
  readonly memories: (ids: readonly number[]) => readonly Memory[];
  /** null for a text without a vector */
  readonly embed: (texts: readonly string[]) => Promise<readonly (Float32Array | null)[]>;
  /** nearest memories of a vector: ids and raw cosines, best first */
  readonly nearest: (
    query: Float32Array,
    limit: number,
  ) => Promise<readonly { id: number; cosine: number }[]>;
  /** raw cosines of these memories with a vector, where they have vectors themselves */
  readonly cosines: (ids: readonly number[], query: Float32Array) => ReadonlyMap<number, number>;
  /** in how many memories each term occurs */
  readonly documentFrequencies: (terms: readonly string[]) => Map<string, number>;
}

const SEED = 20_260_101;
export const MIN_EMBEDDINGS = 10;
const MIN_NULLS = 10;
const NEAREST = 60;
const EMBED_BATCH = 32;
/** Records drawn at random for each question: they show what unrelated means here. */
const RANDOM_PAIRS = 10;

/** Throws `not_found` when the store has too few vectors or too few unrelated rows to learn from. */
export async function calibrate(
  request: CalibrateRequest,
  parts: CalibrateParts,
  isStopped: () => boolean = () => false,
): Promise<Calibration> {
  const ids = parts.ids();
  const random = seededRandom(SEED);
  const sample = parts.memories(drawSample(ids, request.sampleSize, random));
  const nearestNulls: number[] = [];
  const positives: number[] = [];
  const pairs: number[] = [];
  const anyPairs: number[] = [];
  const questions = sample.map((memory) => ({
    memory,
    text: questionOf(memory.content, parts.documentFrequencies),
  }));
  const asked = questions.filter(({ text }) => text !== "");
  for (let from = 0; from < asked.length; from += EMBED_BATCH) {
    const batch = asked.slice(from, from + EMBED_BATCH);
    const vectors = await parts.embed(batch.map(({ text }) => text));
    for (const [i, { memory, text }] of batch.entries()) {
      if (isStopped()) throw new MemoryError("internal", "calibration was stopped");
      const query = vectors[i] ?? null;
      if (query === null) continue;
      const found = await parts.nearest(query, NEAREST);
      const own = found.find(({ id }) => id === memory.id);
      if (own !== undefined) positives.push(own.cosine);
      const [nearestNull] = unrelatedCosines(text, found, ids.length, parts);
      if (nearestNull !== undefined) nearestNulls.push(nearestNull);
      const others = Array.from(
        { length: RANDOM_PAIRS },
        () => ids[Math.floor(random() * ids.length)] as number,
      );
      const cosines = Array.from(parts.cosines(others, query), ([id, cosine]) => ({ id, cosine }));
      pairs.push(...unrelatedCosines(text, cosines, ids.length, parts));
      anyPairs.push(...cosines.filter(({ id }) => id !== memory.id).map(({ cosine }) => cosine));
    }
  }
  if (positives.length < MIN_EMBEDDINGS) throw tooFew(positives.length);
  return summarise(request, {
    nearestNulls,
    positives,
    pairs,
    anyPairs,
    rows: ids.length,
    sampled: sample.length,
  });
}

function tooFew(found: number): MemoryError {
  return new MemoryError("not_found", `Need at least ${MIN_EMBEDDINGS} embeddings, found ${found}`);
}

/** A seeded choice without repetition, ascending. */
function drawSample(ids: readonly number[], size: number, random: () => number): number[] {
  const pool = [...ids];
  for (let i = 0; i < Math.min(size, pool.length); i++) {
    const j = i + Math.floor(random() * (pool.length - i));
    [pool[i], pool[j]] = [pool[j] as number, pool[i] as number];
  }
  return pool.slice(0, size).sort((a, b) => a - b);
}

/** About the length of a question. */
const QUESTION_CHARS = 80;

/** The sentence of the record that holds its rarest word, cut to the length of a question. */
function questionOf(text: string, frequencies: (terms: readonly string[]) => Map<string, number>): string {
  const sentences = text.split(/(?<=[.!?]\s|[。．！？\n])/u).map((sentence) => sentence.trim());
  const content = (sentence: string): string[] =>
    queryTerms(sentence)
      .filter((term) => term.content)
      .map((term) => term.text);
  const known = frequencies([...new Set(sentences.flatMap(content))]);
  const rarest = (sentence: string): number =>
    Math.min(
      Number.POSITIVE_INFINITY,
      ...content(sentence).map((term) => known.get(term) ?? Number.POSITIVE_INFINITY),
    );
  const best = sentences.reduce(
    (kept, sentence) => (rarest(sentence) < rarest(kept) ? sentence : kept),
    sentences[0] ?? "",
  );
  return cutChars(best, QUESTION_CHARS);
}

/** Texts that hold less than this share of the question's rare words have nothing to do with it. */
const UNRELATED_COVERAGE = 0.15;

/** Cosines of the rows that hold hardly any of the question's words, best first. */
function unrelatedCosines(
  question: string,
  found: readonly { id: number; cosine: number }[],
  records: number,
  parts: CalibrateParts,
): number[] {
  const terms = queryTerms(question)
    .filter((term) => term.content)
    .map((term) => term.text);
  const words = weighWords(terms, parts.documentFrequencies(terms), records);
  const texts = new Map(
    parts.memories(found.map(({ id }) => id)).map((memory) => [memory.id, memory.content]),
  );
  return found
    .filter(({ id }) => coverage(new Set(indexTerms(texts.get(id) ?? "")), words) < UNRELATED_COVERAGE)
    .map(({ cosine }) => cosine);
}

interface Scores {
  readonly nearestNulls: readonly number[];
  readonly positives: readonly number[];
  readonly pairs: readonly number[];
  /** the same without looking at words */
  readonly anyPairs: readonly number[];
  readonly rows: number;
  readonly sampled: number;
}

function summarise(
  request: CalibrateRequest,
  { nearestNulls, positives, pairs, anyPairs, rows, sampled }: Scores,
): Calibration {
  if (nearestNulls.length < MIN_NULLS && !request.acceptRelated) {
    throw new MemoryError(
      "not_found",
      `Need at least ${MIN_NULLS} unrelated records, found ${nearestNulls.length}`,
    );
  }
  const nulls = nearestNulls.length < MIN_NULLS ? anyPairs : nearestNulls;
  const distribution = describeScores(nulls);
  const threshold = {
    separation: separate(nulls, positives, request.beta).threshold,
    percentile: quantile(nulls, request.percentile),
    zscore: distribution.mean + request.zFactor * distribution.std,
  }[request.method];
  return {
    unrelated: quantile(pairs.length < MIN_NULLS ? anyPairs : pairs, 0.5),
    threshold,
    beta: request.beta,
    sampled,
    pairs: pairs.length,
    distribution,
    nullAdmitRate: admitted(nulls, threshold),
    positiveAdmitRate: admitted(positives, threshold),
    positiveMean: positives.reduce((sum, score) => sum + score, 0) / positives.length,
    youdenJ: admitted(positives, threshold) - admitted(nulls, threshold),
    rows,
  };
}
