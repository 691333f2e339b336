// What unrelated texts look like to an embedder that no card describes. Where it is known what questions have in
// common: the cosine of that with the store's rows, from the first row on. Else, before the store is calibrated,
// the cosine of rows that were stored far apart, since neighbours are often of one topic; rows are more alike than
// a row and a question are. Cheap enough for the recall that needs it.

import { dot } from "../domain/dot.js";
import { quantile } from "./separation.js";

/** Rows looked at, evenly spaced over the newest. */
const SAMPLE_ROWS = 128;
/** Rows that a sample is spread over at most, so that its cost has a bound. */
const SPREAD_ROWS = 10_000;
const MIN_PAIRED_ROWS = 30;
/** Grown by so much, a store is looked at again. */
const GROWTH = 2;

export interface QuickLevelParts {
  /** name of the embedder; levels of one say nothing about another */
  readonly identity: () => string;
  /** mean vectors of questions without a subject, one a language; null while there are none */
  readonly questions: () => readonly Float32Array[] | null;
  /** one vector each of `count` of the agent's newest `among` rows, evenly spaced, newest first */
  readonly spreadVectors: (agentId: string, count: number, among: number) => readonly Float32Array[];
}

export class QuickLevels {
  readonly #parts: QuickLevelParts;
  readonly #known = new Map<string, { readonly rows: number; readonly level: number }>();

  constructor(parts: QuickLevelParts) {
    this.#parts = parts;
  }

  /** The median raw cosine; null where nothing tells. `rows` is how many the agent has. */
  unrelated(agentId: string, rows: number): number | null {
    const questions = this.#parts.questions();
    if (questions === null && rows < MIN_PAIRED_ROWS) return null;
    const name = JSON.stringify([this.#parts.identity(), questions !== null, agentId]);
    const known = this.#known.get(name);
    if (known !== undefined && rows < known.rows * GROWTH) return known.level;
    const vectors = this.#parts.spreadVectors(agentId, SAMPLE_ROWS, Math.min(rows, SPREAD_ROWS));
    const level = questions === null ? levelOfPairs(vectors) : levelOfQuestions(vectors, questions);
    if (level !== null) this.#known.set(name, { rows, level });
    return level;
  }
}

/** Each row with the one half the sample behind it. */
function levelOfPairs(vectors: readonly Float32Array[]): number | null {
  const half = Math.floor(vectors.length / 2);
  if (half === 0) return null;
  const cosines = vectors.slice(0, half).map((vector, i) => dot(vector, vectors[i + half] as Float32Array));
  return quantile(cosines, 0.5);
}

/** The larger of the languages: rows lie nearest to questions in their own. */
function levelOfQuestions(
  vectors: readonly Float32Array[],
  questions: readonly Float32Array[],
): number | null {
  if (vectors.length === 0) return null;
  const medians = questions.map((mean) =>
    quantile(
      vectors.map((vector) => dot(mean, vector)),
      0.5,
    ),
  );
  return Math.max(...medians);
}
