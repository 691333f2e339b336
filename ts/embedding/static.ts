// The embedded default: the token table that ships with the package. No network, no model; the table is opened
// with the first text, so a start that embeds nothing does not pay for it.

import { createHash } from "node:crypto";
import { MemoryError } from "../errors.js";
import type { StaticTable } from "../native/contract.js";
import type { Embedder, EmbedderCard, EmbedderIdentity, EmbedderState } from "./embedder.js";
import { EmbeddingError } from "./failure.js";

/** Dev splits of LoCoMo and JSQuAD: best fused recall between 0.5 and 1, for both at 0.5. */
export const STATIC_FUSION_WEIGHT = 0.5;
/** Two unrelated texts of one collection sit around 0.75 to 0.81. */
const STATIC_UNRELATED_COSINE = 0.78;
/** Texts embedded before other work gets its turn; about 5 ms with the slow twin. */
const TEXTS_PER_TURN = 64;
/** Thai has no pieces; what is left is the mark that stands in front of every text. */
const WITHOUT_PIECES = "\u0e01";
const BEYOND_ASCII = /[^\p{ASCII}]/u;
const NOT_LETTERS = /\P{L}+/gu;
const UNKNOWN_LETTERS = /[^\p{scx=Latin}\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]+/gu;

export interface StaticEmbedderOptions {
  readonly openTable: () => StaticTable;
  /** share of the vote in rank fusion; default 0.5 */
  readonly fusionWeight: number;
}

export class StaticEmbedder implements Embedder {
  readonly card: EmbedderCard;
  readonly #openTable: () => StaticTable;
  #table: StaticTable | null = null;
  #identity: EmbedderIdentity | null = null;
  #failure: EmbeddingError | null = null;
  #isClosed = false;

  constructor(options: StaticEmbedderOptions) {
    this.#openTable = options.openTable;
    const centre = () => this.#tryTable()?.centre ?? null;
    this.card = {
      fusionWeight: options.fusionWeight,
      get centre() {
        return centre();
      },
      unrelatedCosine: STATIC_UNRELATED_COSINE,
      isContextual: false,
      languages: ["en", "ja"],
    };
  }

  /** Opens the table; null when that fails. */
  identity(): EmbedderIdentity | null {
    if (this.#identity !== null) return this.#identity;
    const table = this.#tryTable();
    if (table === null) return null;
    const prefixes = { query: "", document: "" };
    this.#identity = { provider: "static", model: modelName(table), dimension: table.dimension, prefixes };
    return this.#identity;
  }

  async embedQuery(text: string): Promise<Float32Array | null> {
    return embedAll(this.#mustTable(), [text])[0] ?? null;
  }

  async embedDocuments(texts: readonly string[]): Promise<(Float32Array | null)[]> {
    const vectors: (Float32Array | null)[] = [];
    for (let start = 0; start < texts.length; start += TEXTS_PER_TURN) {
      if (start > 0) await new Promise(setImmediate);
      vectors.push(...embedAll(this.#mustTable(), texts.slice(start, start + TEXTS_PER_TURN)));
    }
    return vectors;
  }

  state(): EmbedderState {
    if (this.#failure !== null) {
      return { status: "failing", reason: this.#failure.reason, detail: this.#failure.message };
    }
    return { status: this.#table === null ? "unknown" : "ready" };
  }

  close(): void {
    this.#isClosed = true;
    this.#table = null;
  }

  #mustTable(): StaticTable {
    if (this.#isClosed) throw new EmbeddingError("misconfigured", "the embedder is closed");
    if (this.#table !== null) return this.#table;
    try {
      this.#table = this.#openTable();
      this.#failure = null;
      return this.#table;
    } catch (error) {
      // Only messages of ours are free of paths.
      const isOurs = error instanceof MemoryError;
      const detail = isOurs ? error.message : "the static token table cannot be opened";
      this.#failure = new EmbeddingError("misconfigured", detail);
      throw this.#failure;
    }
  }

  #tryTable(): StaticTable | null {
    try {
      return this.#mustTable();
    } catch {
      return null;
    }
  }
}

/** Each vector in its own array: a caller that keeps one must not keep its whole batch alive. */
function embedAll(table: StaticTable, texts: readonly string[]): (Float32Array | null)[] {
  const { dimension } = table;
  const vectors = table.embed([...texts, WITHOUT_PIECES]);
  const rowOf = (i: number) => vectors.slice(i * dimension, (i + 1) * dimension);
  const bare = rowOf(texts.length);
  return texts.map((text, i) => {
    const vector = rowOf(i);
    const isZero = vector.every((value) => value === 0);
    return isZero || isSameDirection(vector, bare) || !isMostlyKnownScript(text) ? null : vector;
  });
}

function isSameDirection(a: Float32Array, b: Float32Array): boolean {
  return a.reduce((sum, value, j) => sum + value * (b[j] as number), 0) > 1 - 1e-6;
}

/**
 * Whether at least half of the letters are of a script the table knows. Of other text only white space,
 * punctuation and numbers have pieces, so that any two sentences in Korean would pass for the same one.
 */
function isMostlyKnownScript(text: string): boolean {
  if (!BEYOND_ASCII.test(text)) return true;
  const letters = text.replace(NOT_LETTERS, "");
  return letters.replace(UNKNOWN_LETTERS, "").length * 2 >= letters.length;
}

/** Names the table by its centre, which differs between any two distillations, and is quicker to hash than 12 MB. */
function modelName(table: StaticTable): string {
  const { buffer, byteOffset, byteLength } = table.centre;
  const digest = createHash("sha256")
    .update(new Uint8Array(buffer, byteOffset, byteLength))
    .digest("hex");
  return `static-multilingual-${digest.slice(0, 8)}`;
}
