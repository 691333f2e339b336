// What `bench` can be asked, checked before anything is measured.

import { availableParallelism } from "node:os";
import { invalidArgument } from "../../errors.js";
import { LIMITS } from "../../native/limits.js";

export const BENCHES = ["scan", "recall", "store", "hook", "embed"] as const;
export type BenchName = (typeof BENCHES)[number];

/** As the command line gives them. */
export interface BenchOptions {
  readonly rows?: string | undefined;
  readonly dims?: string | undefined;
  readonly threads?: string | undefined;
  readonly runs?: string | undefined;
  /** folder of texts whose embeddings are searched instead of random vectors */
  readonly texts?: string | undefined;
  /** Python that has the peers; "" leaves them out */
  readonly python?: string | undefined;
  readonly json?: boolean | undefined;
  /** folder for kept results; true for the default one */
  readonly record?: string | boolean | undefined;
  /** a kept result */
  readonly compare?: string | undefined;
}

export interface BenchPlan {
  readonly rows: readonly number[];
  readonly dims: readonly number[];
  readonly threads: readonly number[];
  /** measured runs of each line */
  readonly runs: number;
}

const ROWS: Readonly<Record<BenchName, string>> = {
  scan: "10000,200000",
  recall: "1000,10000",
  store: "1000,10000",
  hook: "1000,10000",
  embed: "1",
};

export function benchName(what: string): BenchName {
  const name = BENCHES.find((known) => known === what);
  if (name === undefined) throw invalidArgument("bench", `must be one of ${BENCHES.join(", ")}`);
  return name;
}

export function planOf(name: BenchName, options: BenchOptions): BenchPlan {
  const cores = availableParallelism();
  return {
    rows: numbers("rows", options.rows ?? ROWS[name], 10_000_000),
    dims: numbers("dims", options.dims ?? "384,768", LIMITS.maxDimension),
    threads: numbers(
      "threads",
      options.threads ?? (cores > 1 ? `1,${Math.min(cores, LIMITS.maxThreads)}` : "1"),
      LIMITS.maxThreads,
    ),
    runs: numbers("runs", options.runs ?? "30", 10_000)[0] as number,
  };
}

function numbers(field: string, text: string, most: number): number[] {
  const values = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (values.some((value) => !Number.isInteger(value) || value < 1 || value > most))
    throw invalidArgument(field, `must be whole numbers from 1 to ${most}, with commas between`);
  return values;
}
