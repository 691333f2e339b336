// Follows a server that changes its model while it is asked. An embedder's identity never changes, so the old
// one is closed and another is opened: between calls, never in the middle of one, so that no vector is taken
// for one of the other model.

import type { Embedder, EmbedderCard, EmbedderIdentity, EmbedderState } from "./embedder.js";
import { EmbeddingError } from "./failure.js";

/** A server that answers now as one model and now as another is followed at this pace. */
const LEAST_LIFE_MS = 10_000;

export class ReopeningEmbedder implements Embedder {
  readonly #open: () => Embedder;
  readonly #now: () => number;
  #embedder: Embedder;
  #openedAt = Number.NEGATIVE_INFINITY;
  #calls = 0;
  #isChanged = false;
  #isClosed = false;

  /** @param now milliseconds */
  constructor(open: () => Embedder, now: () => number) {
    this.#open = open;
    this.#now = now;
    this.#embedder = open();
  }

  get card(): EmbedderCard {
    return this.#embedder.card;
  }

  /** Another one after a change of the model, null again until the new one has answered. */
  identity(): EmbedderIdentity | null {
    return this.#embedder.identity();
  }

  embedQuery(text: string): Promise<Float32Array | null> {
    return this.#call((embedder) => embedder.embedQuery(text));
  }

  embedDocuments(texts: readonly string[]): Promise<(Float32Array | null)[]> {
    return this.#call((embedder) => embedder.embedDocuments(texts));
  }

  state(): EmbedderState {
    if (!this.#isChanged) return this.#embedder.state();
    return { status: "failing", reason: "model_changed", detail: changed().message };
  }

  close(): void {
    this.#isClosed = true;
    this.#embedder.close();
  }

  async #call<T>(work: (embedder: Embedder) => Promise<T>): Promise<T> {
    if (this.#isChanged) {
      this.#reopenSoon();
      throw changed();
    }
    this.#calls++;
    try {
      return await work(this.#embedder);
    } catch (error) {
      if (error instanceof EmbeddingError && error.reason === "model_changed") this.#isChanged = true;
      throw error;
    } finally {
      this.#calls--;
      this.#reopenSoon();
    }
  }

  /** In a turn of its own: whoever got a vector has asked for its identity by then. */
  #reopenSoon(): void {
    if (this.#isChanged) setImmediate(() => this.#reopen());
  }

  #reopen(): void {
    if (!this.#isChanged || this.#isClosed || this.#calls > 0) return;
    if (this.#now() - this.#openedAt < LEAST_LIFE_MS) return;
    this.#openedAt = this.#now();
    this.#embedder.close();
    this.#embedder = this.#open();
    this.#isChanged = false;
  }
}

function changed(): EmbeddingError {
  return new EmbeddingError(
    "model_changed",
    "the embedding server has another model; its vectors are made anew",
  );
}
