// Learns from a store what its unrelated texts look like to its embedder: sentences of records are asked
// of the store, and their own record is compared with the nearest record that shares hardly a word.
// Deterministic: the sample is drawn with a fixed seed.

import type { Memory } from "../domain/memory.js";
import { MemoryError } from "../errors.js";
import { nextTurn } from "../next-turn.js";
import { PseudoQuestions } from "./pseudo-question.js";
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
  /** confidence value of the gate; null when it was made with confidence off */
  readonly confidence: number | null;
  /** rows in scope when it was made */
  readonly rows: number;
}

export interface CalibrateParts {
  /** ids of the scope's memories, ascending */
  readonly ids: () => Promise<readonly number[]>;
  readonly memories: (ids: readonly number[]) => readonly Memory[];
  /** the vector of a question; null for a text without one */
  readonly embed: (text: string) => Promise<Float32Array | null>;
  /** nearest memories of a vector: ids and raw cosines, best first */
  readonly nearest: (
    query: Float32Array,
    limit: number,
  ) => Promise<readonly { id: number; cosine: number }[]>;
  /** raw cosines of these memories with a vector, where they have vectors themselves */
  readonly cosines: (ids: readonly number[], query: Float32Array) => ReadonlyMap<number, number>;
  /** confidence of a memory at a raw cosine; null while confidence is off */
  readonly confidence: ((memory: Memory, cosine: number) => number) | null;
  /** in how many memories each term occurs */
  readonly documentFrequencies: (terms: readonly string[]) => Map<string, number>;
}

const SEED = 20_260_101;
const MIN_EMBEDDINGS = 10;
const MIN_NULLS = 10;
const NEAREST = 40;
/** Records drawn at random for each question: they show what unrelated means here. */
const RANDOM_PAIRS = 5;

/** Throws `not_found` when the store has too few vectors or too few unrelated rows to learn from. */
export async function calibrate(
  request: CalibrateRequest,
  parts: CalibrateParts,
  isStopped: () => boolean = () => false,
): Promise<Calibration> {
  const ids = await parts.ids();
  const random = seededRandom(SEED);
  const sample = parts.memories(drawSample(ids, request.sampleSize, random));
  const questions = new PseudoQuestions(ids.length, parts.documentFrequencies, parts.memories);
  const scores: Scores = {
    nearestNulls: [],
    positives: [],
    pairs: [],
    anyPairs: [],
    confidentNulls: [],
    confidentPositives: [],
  };
  for (const memory of sample) {
    if (isStopped()) throw new MemoryError("internal", "calibration was stopped");
    // Calls that wait are answered between two questions.
    await nextTurn();
    const text = questions.questionOf(memory.content);
    if (text === "") continue;
    const others = Array.from(
      { length: RANDOM_PAIRS },
      () => ids[Math.floor(random() * ids.length)] as number,
    );
    const vector = await parts.embed(text);
    if (vector !== null) await ask({ memory, text }, vector, others, questions, parts, scores);
  }
  if (scores.positives.length < MIN_EMBEDDINGS) throw tooFew(scores.positives.length);
  return summarise(request, scores, { rows: ids.length, sampled: sample.length });
}

/** Compares a question with its own record, the nearest unrelated one, and some drawn at random. */
async function ask(
  question: { readonly memory: Memory; readonly text: string },
  vector: Float32Array,
  others: readonly number[],
  questions: PseudoQuestions,
  parts: CalibrateParts,
  scores: Scores,
): Promise<void> {
  const found = await parts.nearest(vector, NEAREST);
  const own = found.find(({ id }) => id === question.memory.id);
  if (own !== undefined) {
    scores.positives.push(own.cosine);
    if (parts.confidence !== null)
      scores.confidentPositives.push(parts.confidence(question.memory, own.cosine));
  }
  const [nearestNull] = questions.unrelated(question.text, found, 1);
  if (nearestNull !== undefined) {
    scores.nearestNulls.push(nearestNull.cosine);
    const [memory] = parts.confidence === null ? [] : parts.memories([nearestNull.id]);
    if (memory !== undefined) scores.confidentNulls.push(parts.confidence?.(memory, nearestNull.cosine) ?? 0);
  }
  const drawn = Array.from(parts.cosines(others, vector), ([id, cosine]) => ({ id, cosine }));
  scores.pairs.push(...questions.unrelated(question.text, drawn, drawn.length).map(({ cosine }) => cosine));
  scores.anyPairs.push(...drawn.filter(({ id }) => id !== question.memory.id).map(({ cosine }) => cosine));
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

/** Raw cosines, collected question by question. */
interface Scores {
  /** of the nearest unrelated row of each question */
  readonly nearestNulls: number[];
  /** of each question with its own record */
  readonly positives: number[];
  /** of questions with unrelated rows drawn at random */
  readonly pairs: number[];
  /** the same without looking at words */
  readonly anyPairs: number[];
  /** confidence of the nearest unrelated rows and of the own records, while confidence is on */
  readonly confidentNulls: number[];
  readonly confidentPositives: number[];
}

function summarise(
  request: CalibrateRequest,
  { nearestNulls, positives, pairs, anyPairs, confidentNulls, confidentPositives }: Scores,
  { rows, sampled }: { readonly rows: number; readonly sampled: number },
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
    confidence:
      Math.min(confidentNulls.length, confidentPositives.length) < MIN_NULLS
        ? null
        : separate(confidentNulls, confidentPositives, request.beta).threshold,
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
