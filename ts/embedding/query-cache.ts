// Remembers the vectors of recent questions: least recently used out first, each for a limited time.

import { createHash } from "node:crypto";

interface CachedVector {
  readonly vector: Float32Array | null;
  readonly expiresAt: number;
}

export class QueryCache {
  readonly #size: number;
  readonly #ttlMs: number;
  readonly #now: () => number;
  /** A Map keeps insertion order: the first entry is the least recently used. */
  readonly #entries = new Map<string, CachedVector>();

  /**
   * @param size most entries; 0 caches nothing
   * @param now milliseconds
   */
  constructor(size: number, ttlMs: number, now: () => number) {
    this.#size = size;
    this.#ttlMs = ttlMs;
    this.#now = now;
  }

  /** Undefined when the text is not cached; null is the cached answer "this text has no vector". */
  get(key: string): Float32Array | null | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (this.#now() >= entry.expiresAt) return undefined;
    this.#entries.set(key, entry);
    return entry.vector;
  }

  set(key: string, vector: Float32Array | null): void {
    this.#entries.delete(key);
    this.#entries.set(key, { vector, expiresAt: this.#now() + this.#ttlMs });
    if (this.#entries.size <= this.#size) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }
}

/** Key of a text. A digest, since a question may be 100,000 characters long. */
export function cacheKey(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
