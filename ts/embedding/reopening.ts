// Follows a server that changes its model while it is asked. An embedder's identity never changes, so the old
// one is closed and another is opened: between calls, never in the middle of one, so that no vector is taken
// for one of the other model. Where answers name no model, the server's fingerprint does.

import type { Capabilities } from "./capabilities.js";
import type { Embedder, EmbedderCard, EmbedderIdentity, EmbedderState } from "./embedder.js";
import { EmbeddingError } from "./failure.js";

export interface ReopeningOptions {
  readonly open: () => Embedder;
  /** asked where an embedder does not know its model's name; null asks nobody */
  readonly capabilities: Pick<Capabilities, "modelName"> | null;
  /** longest wait for the vector of a question and its model's name together */
  readonly queryTimeoutMs: number;
  /** milliseconds */
  readonly now: () => number;
}

/** A server that answers now as one model and now as another is followed at this pace. */
const LEAST_LIFE_MS = 10_000;
/** A name is asked for again before vectors are kept, and, less often, before questions are compared. */
const DOCUMENT_AGE_MS = 30_000;
const QUERY_AGE_MS = 300_000;
/** The first answer may cost the server a digest of its model. */
const DOCUMENT_TIMEOUT_MS = 30_000;
/** A slow vector must not cost a question the name that a quick route has. */
const LEAST_NAME_MS = 200;

export class ReopeningEmbedder implements Embedder {
  readonly #options: ReopeningOptions;
  readonly #closing = new AbortController();
  #embedder: Embedder;
  #openedAt = Number.NEGATIVE_INFINITY;
  #calls = 0;
  #isChanged = false;
  /** undefined before it was asked for, null where there is none */
  #name: string | null | undefined;
  #namedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReopeningOptions) {
    this.#options = options;
    this.#embedder = options.open();
  }

  get card(): EmbedderCard {
    return this.#embedder.card;
  }

  /** Another one after a change of the model, null again until the new one has answered. */
  identity(): EmbedderIdentity | null {
    const own = this.#embedder.identity();
    if (!this.#isNameless()) return own;
    if (own === null || this.#name === undefined) return null;
    return { ...own, model: this.#name ?? "" };
  }

  embedQuery(text: string): Promise<Float32Array | null> {
    const end = performance.now() + this.#options.queryTimeoutMs;
    const leftMs = () => Math.max(LEAST_NAME_MS, Math.ceil(end - performance.now()));
    return this.#call((embedder) => embedder.embedQuery(text), QUERY_AGE_MS, leftMs);
  }

  embedDocuments(texts: readonly string[]): Promise<(Float32Array | null)[]> {
    const leftMs = () => DOCUMENT_TIMEOUT_MS;
    return this.#call((embedder) => embedder.embedDocuments(texts), DOCUMENT_AGE_MS, leftMs);
  }

  state(): EmbedderState {
    if (!this.#isChanged) return this.#embedder.state();
    return { status: "failing", reason: "model_changed", detail: changed().message };
  }

  close(): void {
    this.#closing.abort();
    this.#embedder.close();
  }

  /** `leftMs`: how long the model's name may take, once the work is done */
  async #call<T>(
    work: (embedder: Embedder) => Promise<T>,
    nameAgeMs: number,
    leftMs: () => number,
  ): Promise<T> {
    if (this.#isChanged) {
      this.#reopenSoon();
      throw changed();
    }
    this.#calls++;
    try {
      const result = await work(this.#embedder);
      // After the work: a vector that was made before a change is dropped, never kept under the new name.
      if (this.#isNameless()) await this.#checkName(nameAgeMs, leftMs);
      return result;
    } catch (error) {
      if (error instanceof EmbeddingError && error.reason === "model_changed") this.#isChanged = true;
      // Whoever comes back may be another.
      else this.#namedAt = Number.NEGATIVE_INFINITY;
      throw error;
    } finally {
      this.#calls--;
      this.#reopenSoon();
    }
  }

  #isNameless(): boolean {
    return this.#options.capabilities !== null && this.#embedder.identity()?.model === "";
  }

  async #checkName(nameAgeMs: number, leftMs: () => number): Promise<void> {
    const { capabilities, now } = this.#options;
    if (capabilities === null || now() - this.#namedAt < nameAgeMs) return;
    const name = await capabilities
      .modelName({ timeoutMs: leftMs(), signal: this.#closing.signal })
      // The server has just embedded: a route that fails beside it says nothing, and takes nothing away.
      .catch((error: unknown) => {
        if (this.#closing.signal.aborted) throw error;
        return this.#name ?? null;
      });
    if (this.#name !== undefined && name !== this.#name) throw changed();
    this.#name = name;
    this.#namedAt = now();
  }

  /** In a turn of its own: whoever got a vector has asked for its identity by then. */
  #reopenSoon(): void {
    if (this.#isChanged) setImmediate(() => this.#reopen());
  }

  #reopen(): void {
    const { now, open } = this.#options;
    if (!this.#isChanged || this.#closing.signal.aborted || this.#calls > 0) return;
    if (now() - this.#openedAt < LEAST_LIFE_MS) return;
    this.#openedAt = now();
    this.#embedder.close();
    this.#embedder = open();
    this.#name = undefined;
    this.#namedAt = Number.NEGATIVE_INFINITY;
    this.#isChanged = false;
  }
}

function changed(): EmbeddingError {
  return new EmbeddingError(
    "model_changed",
    "the embedding server has another model; its vectors are made anew",
  );
}
