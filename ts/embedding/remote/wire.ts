// The two ways in which embedding servers are asked. Answers are foreign input: nothing of one is used before
// its shape, order, width and numbers are checked.

import { type BackendAnswer, toUnitVectors } from "../backend.js";
import { EmbeddingError } from "../failure.js";

const MAX_MODEL_CHARS = 256;
const WHO = "the embedding server";

export interface Wire {
  /** The body of a request. */
  request(texts: readonly string[]): object;
  /** Throws `misconfigured` for an answer that does not fit `count` texts. */
  read(answer: unknown, count: number): BackendAnswer;
}

/** `{"texts": [...]}` is answered with `{"embeddings": [[...], ...], "model"?: "..."}` in the texts' order. */
export const EMBED_WIRE: Wire = {
  request: (texts) => ({ texts }),
  read: (answer, count) => {
    const rows = fieldOf(answer, "embeddings");
    if (!Array.isArray(rows)) throw nonsense("without embeddings");
    return { ...toUnitVectors(rows, count, WHO), model: readModel(fieldOf(answer, "model")) };
  },
};

/**
 * OpenAI's contract: `{"model", "input": [...]}` is answered with `{"data": [{"index", "embedding"}, ...]}`, each
 * index from 0 once, in any order. The request names the model, so what the answer calls it is not looked at.
 */
export function openAiWire(model: string): Wire {
  return {
    request: (texts) => ({ model, input: texts, encoding_format: "float" }),
    read: (answer, count) => {
      const data = fieldOf(answer, "data");
      if (!Array.isArray(data)) throw nonsense("without data");
      const rows = new Array<unknown>(data.length).fill(undefined);
      for (const item of data as unknown[]) {
        const index = fieldOf(item, "index");
        const isNew = typeof index === "number" && index in rows && rows[index] === undefined;
        const embedding = fieldOf(item, "embedding");
        if (!isNew || embedding === undefined) throw nonsense("with an index that does not fit");
        rows[index] = embedding;
      }
      return { ...toUnitVectors(rows, count, WHO), model: null };
    },
  };
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
  return new EmbeddingError("misconfigured", `${WHO} answered ${how}`);
}
