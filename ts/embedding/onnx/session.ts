// A model in ONNX Runtime: token ids in, one vector a text out. Runs in the model process only, since a run
// holds the thread that asks for it.

import type { InferenceSession, Tensor } from "onnxruntime-common";
import { EmbeddingError } from "../failure.js";
import type { OnnxModel } from "./model-folder.js";

type Runtime = typeof import("onnxruntime-common");

/** An optional peer of 290 MB: not there where the package is built. */
const RUNTIME = "onnxruntime-node";

type SessionModel = OnnxModel & { readonly padId: number };

/** A batch's rows times its longest row. More is no faster on a processor, and a question waits for a batch. */
const TOKENS_PER_BATCH = 512;
const LOG_ERRORS_ONLY = 3;

/** Throws `misconfigured` where the runtime is not installed, does not load, or refuses the model. */
export async function openSession(model: SessionModel, threads: number): Promise<OnnxSession> {
  const runtime = await loadRuntime();
  let session: InferenceSession;
  try {
    session = await runtime.InferenceSession.create(model.modelFile, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: "sequential",
      logSeverityLevel: LOG_ERRORS_ONLY,
    });
  } catch {
    throw wrong("the model's file cannot be read: it is damaged, or too new for this onnxruntime-node");
  }
  return new OnnxSession(runtime, session, model);
}

async function loadRuntime(): Promise<Runtime> {
  try {
    return (await import(RUNTIME)) as Runtime;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw wrong(
      code === "ERR_MODULE_NOT_FOUND"
        ? "mode onnx needs the package onnxruntime-node beside cpersona-native: npm install onnxruntime-node"
        : `onnxruntime-node does not load on ${process.platform} ${process.arch} (${String(code ?? "unknown reason")})`,
    );
  }
}

export class OnnxSession {
  readonly #runtime: Runtime;
  readonly #session: InferenceSession;
  readonly #model: SessionModel;
  readonly #output: string;

  constructor(runtime: Runtime, session: InferenceSession, model: SessionModel) {
    this.#runtime = runtime;
    this.#session = session;
    this.#model = model;
    const foreign = session.inputNames.find((name) => !(name in FEEDS));
    if (foreign !== undefined) throw wrong(`the model wants an input that is not known: ${label(foreign)}`);
    this.#output = outputOf(session, model);
  }

  /**
   * A row of `dimension` numbers for each list of ids, in their order, not normalised. `pause` runs between
   * batches, which are made of rows of like length.
   */
  async embed(ids: readonly (readonly number[])[], pause: () => Promise<void>): Promise<Float32Array> {
    const { dimension } = this.#model;
    const rows = new Float32Array(ids.length * dimension);
    for (const [i, batch] of batchesOf(ids).entries()) {
      if (i > 0) await pause();
      const vectors = await this.#run(batch.map((place) => ids[place] as readonly number[]));
      batch.forEach((place, row) => {
        rows.set(vectors.subarray(row * dimension, (row + 1) * dimension), place * dimension);
      });
    }
    return rows;
  }

  async release(): Promise<void> {
    await this.#session.release();
  }

  async #run(ids: readonly (readonly number[])[]): Promise<Float32Array> {
    const width = Math.max(...ids.map((row) => row.length));
    const { padId } = this.#model;
    const feeds = Object.fromEntries(
      this.#session.inputNames.map((name) => {
        const values = FEEDS[name as keyof typeof FEEDS](ids, width, padId);
        return [name, this.#tensor(name, values, [ids.length, width])];
      }),
    );
    let output: Tensor | undefined;
    try {
      output = (await this.#session.run(feeds, [this.#output]))[this.#output];
    } catch {
      throw wrong("the model does not run on these texts: its files may not belong together");
    }
    return this.#pool(output, ids, width);
  }

  #tensor(name: string, values: number[], dims: number[]): Tensor {
    const { Tensor } = this.#runtime;
    const type = this.#session.inputMetadata?.find((input) => input.name === name);
    return type?.isTensor === true && type.type === "int32"
      ? new Tensor("int32", Int32Array.from(values), dims)
      : new Tensor("int64", BigInt64Array.from(values, BigInt), dims);
  }

  #pool(output: Tensor | undefined, ids: readonly (readonly number[])[], width: number): Float32Array {
    const { dimension, pooling } = this.#model;
    const data = output?.data;
    if (output === undefined || !(data instanceof Float32Array))
      throw wrong("the model's output is not float32");
    const { dims } = output;
    if (dims[0] !== ids.length || dims[dims.length - 1] !== dimension)
      throw wrong(
        `the model's output has the shape ${dims.join(" × ")}, and not ${dimension} numbers a text`,
      );
    if (dims.length === 2) return data;
    if (dims.length !== 3 || dims[1] !== width)
      throw wrong("the model's output is neither vectors of texts nor of tokens");
    return pooling === "cls"
      ? firstTokens(data, ids.length, width, dimension)
      : means(data, ids, width, dimension);
  }
}

type Feed = (ids: readonly (readonly number[])[], width: number, padId: number) => number[];

const padded = (
  ids: readonly (readonly number[])[],
  width: number,
  value: (id: number) => number,
  pad: number,
) => ids.flatMap((row) => [...row.map(value), ...new Array<number>(width - row.length).fill(pad)]);

const FEEDS: Readonly<Record<"input_ids" | "attention_mask" | "token_type_ids", Feed>> = {
  input_ids: (ids, width, padId) => padded(ids, width, (id) => id, padId),
  attention_mask: (ids, width) => padded(ids, width, () => 1, 0),
  token_type_ids: (ids, width) => padded(ids, width, () => 0, 0),
};

function outputOf(session: InferenceSession, { output }: OnnxModel): string {
  const names = session.outputNames;
  const wanted = output ?? names.find((name) => name === "sentence_embedding") ?? names[0];
  if (wanted === undefined || !names.includes(wanted))
    throw wrong("the model has no output of the name in its config.json");
  return wanted;
}

/** Places of rows, grouped so that little is padding. */
export function batchesOf(ids: readonly (readonly number[])[]): number[][] {
  const lengthOf = (place: number) => (ids[place] as readonly number[]).length;
  const places = ids.map((_, place) => place).sort((a, b) => lengthOf(a) - lengthOf(b) || a - b);
  const batches: number[][] = [];
  let open: number[] = [];
  for (const place of places) {
    if (open.length > 0 && (open.length + 1) * lengthOf(place) > TOKENS_PER_BATCH) {
      batches.push(open);
      open = [];
    }
    open.push(place);
  }
  return open.length === 0 ? batches : [...batches, open];
}

function firstTokens(data: Float32Array, count: number, width: number, dimension: number): Float32Array {
  const rows = new Float32Array(count * dimension);
  for (let i = 0; i < count; i++)
    rows.set(data.subarray(i * width * dimension, (i * width + 1) * dimension), i * dimension);
  return rows;
}

/** Padding is left out. */
function means(
  data: Float32Array,
  ids: readonly (readonly number[])[],
  width: number,
  dimension: number,
): Float32Array {
  const rows = new Float32Array(ids.length * dimension);
  for (const [i, { length }] of ids.entries()) {
    for (let t = 0; t < length; t++) {
      const at = (i * width + t) * dimension;
      for (let j = 0; j < dimension; j++)
        rows[i * dimension + j] = (rows[i * dimension + j] as number) + (data[at + j] as number) / length;
    }
  }
  return rows;
}

/** Names in a file are foreign text. */
function label(name: string): string {
  return name.replace(/[^\w.-]/g, "").slice(0, 64);
}

function wrong(message: string): EmbeddingError {
  return new EmbeddingError("misconfigured", message);
}
