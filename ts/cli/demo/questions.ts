// The questions of the examples folder, and what they count for in the end.
import { readFile } from "node:fs/promises";
import { isRecord } from "../../intake/draft.js";

/** One question of `examples/questions.json`. */
export interface ExampleQuestion {
  ask: string;
  /** A phrase that only the answering note holds; null when no note answers. */
  expect: string | null;
}

/** Reads the example questions; throws when the file does not have their shape. */
export async function readQuestions(path: string): Promise<ExampleQuestion[]> {
  const parsed: unknown = JSON.parse(await readFile(path, "utf8"));
  const list = isRecord(parsed) ? parsed["questions"] : undefined;
  if (!Array.isArray(list)) throw new Error("questions.json holds no list of questions");
  return list.map((entry: unknown) => {
    const ask = isRecord(entry) ? entry["ask"] : undefined;
    const expect = isRecord(entry) ? entry["expect"] : undefined;
    if (typeof ask !== "string" || (typeof expect !== "string" && expect !== null)) {
      throw new Error("each question needs `ask` and `expect`");
    }
    return { ask, expect };
  });
}

/** How many answers were right. */
export interface Tally {
  asked: number;
  first: number;
  among: number;
  unanswerable: number;
  silent: number;
}

/** Counts one answer: the place of the expected row (-1 for none), or rows of an unanswerable question. */
export function count(tally: Tally, expectsNothing: boolean, place: number, rows: number): void {
  if (expectsNothing) {
    tally.unanswerable++;
    if (rows === 0) tally.silent++;
    return;
  }
  tally.asked++;
  if (place === 0) tally.first++;
  if (place >= 0) tally.among++;
}

/** Median of some milliseconds, 0 for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle] ?? 0;
  return ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
