// Counts use behind the answers: collected in memory, written in batches, lost by a kill at worst.

import { storageStamp } from "../domain/time.js";
import { describeError } from "../errors.js";
import { log } from "../log.js";
import type { Store } from "../store/store.js";

/** Opening a row says more than seeing it in a list. */
const OPENED = 2;
const LISTED = 1;
/** Rows of an answer that count as used together. */
const TOGETHER = 5;
const DELAY_MS = 1000;
const MAX_WAITING = 1000;

interface Waiting {
  readonly keys: readonly number[];
  readonly together: readonly number[];
  readonly amount: number;
  readonly at: number;
}

export class UseCounter {
  readonly #store: Store;
  readonly #clock: { now(): number };
  #waiting: Waiting[] = [];
  #showings: { session: string; keys: readonly number[]; at: number; keptMs: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store, clock: { now(): number }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Rows of an answer, best last as recall gives them. */
  listed(keys: readonly number[]): void {
    this.#add(keys, keys.slice(-TOGETHER), LISTED);
  }

  opened(keys: readonly number[]): void {
    this.#add(keys, keys, OPENED);
  }

  /** What ambient recall showed to a session. */
  remember(session: string, keys: readonly number[], keptMs: number): void {
    this.#showings.push({ session, keys, at: this.#clock.now(), keptMs });
    this.#schedule();
  }

  #add(keys: readonly number[], together: readonly number[], amount: number): void {
    if (keys.length === 0 || this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push({ keys, together, amount, at: this.#clock.now() });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#store.database.readOnly) return;
    this.#timer = setTimeout(() => this.flush(), DELAY_MS);
    this.#timer.unref();
  }

  /** Writes what is waiting. Never throws: counts are worth less than the answer before them. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    const showings = this.#showings;
    this.#waiting = [];
    this.#showings = [];
    if (waiting.length + showings.length === 0 || this.#store.database.readOnly) return;
    try {
      this.#store.database.transaction(() => {
        for (const { keys, together, amount, at } of waiting) {
          this.#store.uses.count(keys, storageStamp(at), amount);
          this.#store.uses.countTogether(together, at, amount);
        }
        for (const { session, keys, at, keptMs } of showings)
          this.#store.showings.add(session, keys, storageStamp(at), storageStamp(at - keptMs));
      });
    } catch (error) {
      log("debug", `use was not counted: ${describeError(error)}`);
    }
  }
}
