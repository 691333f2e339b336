// Keeps background work going: what fails is told once, tried again after longer and longer pauses, and can be
// asked for. Nothing that runs under it ends the process.

import { describeError, isBusy } from "./errors.js";
import { log } from "./log.js";

/** Work that does not get on. */
export interface Standstill {
  readonly name: string;
  /** when it failed first, ms since the epoch */
  readonly since: number;
  /** of the last failure, in words */
  readonly reason: string;
  /** failures in a row */
  readonly failures: number;
}

/** Pauses between two tries, ms: doubled with every failure. A busy database is soon free again. */
const PAUSE_MS = { first: 5000, firstBusy: 500, most: 300_000 };

export class Supervisor {
  readonly #clock: { now(): number };
  readonly #standing = new Map<string, Standstill>();
  readonly #retries = new Map<string, NodeJS.Timeout>();
  readonly #running = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(clock: { now(): number }) {
    this.#clock = clock;
  }

  /**
   * Runs work of this name, one at a time, and again by itself as long as it fails. Never rejects. While a failed
   * one waits for its next try, the request is left to that.
   */
  run(name: string, work: () => Promise<unknown>): Promise<void> {
    if (this.#isClosed || this.#retries.has(name)) return Promise.resolve();
    const known = this.#running.get(name);
    if (known !== undefined) return known;
    const running = this.#try(name, work);
    this.#running.set(name, running);
    return running;
  }

  async #try(name: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.succeeded(name);
    } catch (error) {
      if (!this.#isClosed) this.#retry(name, work, this.failed(name, error));
    } finally {
      this.#running.delete(name);
    }
  }

  #retry(name: string, work: () => Promise<unknown>, pauseMs: number): void {
    const timer = setTimeout(() => {
      this.#retries.delete(name);
      this.run(name, work).catch(() => {});
    }, pauseMs);
    timer.unref();
    this.#retries.set(name, timer);
  }

  /** For work with a rhythm of its own: notes a failure, and gives the pause before the next try, ms. */
  failed(name: string, error: unknown): number {
    const known = this.#standing.get(name);
    const reason = describeError(error);
    const failures = (known?.failures ?? 0) + 1;
    this.#standing.set(name, { name, since: known?.since ?? this.#clock.now(), reason, failures });
    log(known === undefined ? "warn" : "debug", `${name} stands still and is tried again: ${reason}`);
    const pauseMs = (isBusy(error) ? PAUSE_MS.firstBusy : PAUSE_MS.first) * 2 ** Math.min(failures - 1, 16);
    // Many processes share a database, and must not all come back in the same moment.
    return Math.min(pauseMs, PAUSE_MS.most) * (0.75 + Math.random() / 2);
  }

  succeeded(name: string): void {
    if (this.#standing.delete(name)) log("warn", `${name} goes on`);
  }

  /** What does not get on now, the oldest first. */
  standing(): readonly Standstill[] {
    return [...this.#standing.values()].sort((a, b) => a.since - b.since);
  }

  /** Starts nothing any more. What runs is not waited for. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#retries.values()) clearTimeout(timer);
    this.#retries.clear();
  }
}
