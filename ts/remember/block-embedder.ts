// Vectors of texts, one a block, in requests that take about a quarter of a second each: a question that comes
// meanwhile must not wait long behind them, and a fast backend must not be asked for one text at a time.

import { type Embedder, identityKey } from "../embedding/embedder.js";
import { describeError } from "../errors.js";
import { log } from "../log.js";
import type { EmbeddedBlock } from "../store/embeddings.js";
import type { NewEmbedding } from "../store/store.js";
import { charSlicer, countChars } from "../text/characters.js";
import { chunksOf } from "../text/chunks.js";

/** Servers refuse or time out on longer lists. */
const MAX_BLOCKS = 64;
/** Before anything is known of the backend's speed. */
const FIRST_BLOCKS = 4;
const REQUEST_MS = 250;

/** The vectors that a text is stored with, see `BlockEmbedder.embedWithin`. */
export type EmbedText = (text: string) => Promise<NewEmbedding | null>;

/** Whether a stretch of the text is still without its vectors. */
export function isPartial({ blocks }: NewEmbedding): boolean {
  return blocks.some(({ vector }) => vector.length === 0);
}

interface Piece {
  /** place of its text in the list */
  readonly of: number;
  readonly startChar: number;
  readonly endChar: number;
  readonly text: string;
}

export class BlockEmbedder {
  readonly #embedder: Pick<Embedder, "embedDocuments" | "identity" | "state">;
  /** milliseconds, for durations */
  readonly #now: () => number;
  /** blocks of the next request */
  #blocks = FIRST_BLOCKS;

  constructor(
    embedder: Pick<Embedder, "embedDocuments" | "identity" | "state">,
    now: () => number = () => performance.now(),
  ) {
    this.#embedder = embedder;
    this.#now = now;
  }

  /** In the texts' order; null for a text that has nothing to embed. Rejects with `embedding_failed`. */
  async embedAll(texts: readonly string[]): Promise<(NewEmbedding | null)[]> {
    const pieces = texts.flatMap((text, of) => piecesOf(text, of));
    const vectors: (Float32Array | null)[] = [];
    while (vectors.length < pieces.length) vectors.push(...(await this.#next(pieces, vectors.length)));
    return texts.map((_, of) => this.#embedding(pieces, vectors, of));
  }

  /**
   * The vectors of a text that is about to be stored: as many blocks as fit into `budgetMs` (at least one
   * request), and the rest as a stretch that waits. A failing backend never stops a write: null when there is no
   * vector, because embedding is off, failed, or the text has nothing to embed.
   */
  async embedWithin(text: string, budgetMs: number): Promise<NewEmbedding | null> {
    if (this.#embedder.state().status === "off") return null;
    const end = this.#now() + budgetMs;
    const pieces = piecesOf(text, 0);
    const vectors: (Float32Array | null)[] = [];
    try {
      do vectors.push(...(await this.#next(pieces, vectors.length)));
      while (vectors.length < pieces.length && this.#now() < end);
    } catch (error) {
      const what = vectors.length === 0 ? "a vector" : "all its vectors";
      log("warn", `stored without ${what}: ${describeError(error)}`);
    }
    const embedding = this.#embedding(pieces, vectors, 0);
    const waiting = pieces[vectors.length];
    if (embedding === null || waiting === undefined) return embedding;
    const rest = { startChar: waiting.startChar, endChar: countChars(text), vector: new Float32Array(0) };
    return { ...embedding, blocks: [...embedding.blocks, rest] };
  }

  async #next(pieces: readonly Piece[], from: number): Promise<(Float32Array | null)[]> {
    const batch = pieces.slice(from, from + this.#blocks);
    const start = this.#now();
    const vectors = await this.#embedder.embedDocuments(batch.map(({ text }) => text));
    this.#notePace(batch.length, this.#now() - start);
    return vectors;
  }

  /** Small steps up, since the cost of a request hides that of its texts; down at once. */
  #notePace(blocks: number, ms: number): void {
    const fitting = Math.floor((blocks * REQUEST_MS) / Math.max(ms, 1));
    this.#blocks = Math.min(Math.max(1, fitting), Math.max(this.#blocks, blocks * 2), MAX_BLOCKS);
  }

  #embedding(
    pieces: readonly Piece[],
    vectors: readonly (Float32Array | null)[],
    of: number,
  ): NewEmbedding | null {
    const identity = this.#embedder.identity();
    const blocks = vectors.flatMap((vector, i): EmbeddedBlock[] => {
      const piece = pieces[i] as Piece;
      if (piece.of !== of || vector === null) return [];
      return [{ startChar: piece.startChar, endChar: piece.endChar, vector }];
    });
    if (identity === null || blocks.length === 0) return null;
    return { identity: identityKey(identity), dimension: identity.dimension, blocks };
  }
}

function piecesOf(text: string, of: number): Piece[] {
  const slice = charSlicer(text);
  return chunksOf(text).map(({ start, end }) => ({
    of,
    startChar: start,
    endChar: end,
    text: slice(start, end),
  }));
}
