// Vectors that are missing, made in small steps: after an import, a change of the embedder or a backend that
// was away. One process of all that share the store does it at a time.

import { type RecordKind, recordKey, recordOfKey } from "../domain/record.js";
import type { Embedder } from "../embedding/embedder.js";
import { describeError } from "../errors.js";
import { log } from "../log.js";
import type { NewEmbedding } from "../store/store.js";
import { breathe, type Progress } from "./progress.js";

export interface BackfillParts {
  readonly embedder: Pick<Embedder, "state">;
  /** code of the present embedder's vectors; null while it is off or unknown */
  readonly embedderCode: () => number | null;
  /** Throws when the backend fails. Null for a text that has nothing to embed. */
  readonly embedTexts: (texts: readonly string[]) => Promise<(NewEmbedding | null)[]>;
  /** newest first, below `before` */
  readonly idsWithoutVector: (kind: RecordKind, embedder: number, before: number, limit: number) => number[];
  readonly countWithoutVector: (
    embedder: number,
    agentId: string | null,
  ) => { readonly memories: number; readonly episodes: number };
  readonly texts: (keys: readonly number[]) => Map<number, string>;
  /** Writes the vectors of records whose text is still the one given; null marks one that has nothing to embed. */
  readonly putVectors: (
    embedder: number,
    rows: readonly { readonly key: number; readonly text: string; readonly embedding: NewEmbedding | null }[],
  ) => void;
  /** Takes or keeps the right to work for `ms`; false when another process has it. */
  readonly lease: (ms: number) => boolean;
  readonly release: () => void;
  readonly changed: () => void;
  readonly maxRetries: number;
}

export interface BackfillOutcome {
  readonly embedded: number;
  /** texts that have nothing to embed for this model */
  readonly blank: number;
  /** records that this process could not embed, so far */
  readonly failed: number;
  /** `done`: nothing is left; `busy`: another process is at it; `stopped`: the backend fails or the limit is reached */
  readonly end: "done" | "busy" | "stopped" | "off";
}

/** How far a run has come: newest first, memories before episodes. */
interface Place {
  kind: RecordKind;
  before: number;
}

/** Texts of one request: servers refuse or time out on longer lists. */
const STEP_TEXTS = 64;
const LEASE_MS = 15_000;

export class Backfill {
  readonly #parts: BackfillParts;
  /** records that failed, with the number of attempts */
  readonly #attempts = new Map<number, number>();
  #running: Promise<BackfillOutcome> | undefined;
  #isClosed = false;

  constructor(parts: BackfillParts) {
    this.#parts = parts;
  }

  /** Records that wait for a vector of the present embedder. */
  pending(agentId: string | null = null): { memories: number; episodes: number } {
    const code = this.#parts.embedderCode();
    return code === null ? { memories: 0, episodes: 0 } : this.#parts.countWithoutVector(code, agentId);
  }

  /** Fills at most `limit` records. Runs once at a time in this process. */
  run(limit = Number.POSITIVE_INFINITY, progress: Progress = () => {}): Promise<BackfillOutcome> {
    this.#running ??= this.#run(limit, progress).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(limit: number, progress: Progress): Promise<BackfillOutcome> {
    const totals = { embedded: 0, blank: 0 };
    if (this.#parts.embedder.state().status === "off") return this.#outcome(totals, "off");
    if ((await this.#code()) === null) return this.#outcome(totals, "stopped");
    const waiting = this.pending();
    const total = Math.min(limit, waiting.memories + waiting.episodes);
    try {
      const place: Place = { kind: "mem", before: Number.MAX_SAFE_INTEGER };
      for (let done = 0; done < limit && !this.#isClosed; ) {
        if (!this.#parts.lease(LEASE_MS)) return this.#outcome(totals, "busy");
        const step = await this.#step(place, Math.min(STEP_TEXTS, limit - done));
        if (step === null) return this.#outcome(totals, "stopped");
        if (step === "end") return this.#outcome(totals, "done");
        totals.embedded += step.embedded;
        totals.blank += step.blank;
        done += step.size;
        progress(Math.min(done, total), total);
        await breathe();
      }
      return this.#outcome(totals, "stopped");
    } finally {
      this.#parts.release();
      if (totals.embedded > 0) this.#parts.changed();
    }
  }

  #outcome(totals: { embedded: number; blank: number }, end: BackfillOutcome["end"]): BackfillOutcome {
    return { ...totals, failed: this.#attempts.size, end };
  }

  /** A server tells its model with its first answer. */
  async #code(): Promise<number | null> {
    const known = this.#parts.embedderCode();
    if (known !== null) return known;
    await this.#parts.embedTexts(["memory"]).catch(() => {});
    return this.#parts.embedderCode();
  }

  /** Fills the next rows behind `place` and moves it. Null when the backend fails as a whole. */
  async #step(
    place: Place,
    size: number,
  ): Promise<{ size: number; embedded: number; blank: number } | "end" | null> {
    const code = this.#parts.embedderCode();
    if (code === null) return null;
    const ids = this.#parts.idsWithoutVector(place.kind, code, place.before, size);
    const last = ids[ids.length - 1];
    if (last === undefined) {
      if (place.kind === "ep") return "end";
      place.kind = "ep";
      place.before = Number.MAX_SAFE_INTEGER;
      return { size: 0, embedded: 0, blank: 0 };
    }
    place.before = last;
    const keys = ids.map((id) => recordKey(place.kind, id)).filter((key) => !this.#isGivenUp(key));
    const texts = this.#parts.texts(keys);
    const rows = keys.flatMap((key) => {
      const text = texts.get(key);
      return text === undefined ? [] : [{ key, text }];
    });
    if (rows.length === 0) return { size: ids.length, embedded: 0, blank: 0 };
    const filled = await this.#embed(rows);
    // A backend that makes none of a whole step would be asked for every row of the store, one by one.
    if (filled === null || filled.length === 0) return null;
    this.#parts.putVectors(code, filled);
    const embedded = filled.filter(({ embedding }) => embedding !== null).length;
    return { size: ids.length, embedded, blank: filled.length - embedded };
  }

  /** Halves a batch that fails until the text at fault stands alone. */
  async #embed(
    rows: readonly { readonly key: number; readonly text: string }[],
  ): Promise<{ key: number; text: string; embedding: NewEmbedding | null }[] | null> {
    try {
      const embeddings = await this.#parts.embedTexts(rows.map(({ text }) => text));
      return rows.map((row, i) => ({ ...row, embedding: embeddings[i] ?? null }));
    } catch (error) {
      const state = this.#parts.embedder.state();
      if (this.#isClosed || (state.status === "failing" && state.reason !== "misconfigured")) return null;
      const [only] = rows;
      if (rows.length === 1 && only !== undefined) {
        const attempts = (this.#attempts.get(only.key) ?? 0) + 1;
        this.#attempts.set(only.key, attempts);
        const { kind, id } = recordOfKey(only.key);
        log(
          attempts < this.#parts.maxRetries ? "debug" : "warn",
          `no vector for ${kind}:${id}, attempt ${attempts}: ${describeError(error)}`,
        );
        return [];
      }
      const middle = Math.ceil(rows.length / 2);
      const first = await this.#embed(rows.slice(0, middle));
      const second = first === null ? null : await this.#embed(rows.slice(middle));
      return first === null || second === null ? null : [...first, ...second];
    }
  }

  #isGivenUp(key: number): boolean {
    return (this.#attempts.get(key) ?? 0) >= this.#parts.maxRetries;
  }

  /** Ends after the step that is running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running?.catch(() => {});
  }
}
