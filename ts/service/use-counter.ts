// Counts use behind the answers: collected in memory, written in batches, lost by a kill at worst.

import { storageStamp } from "../domain/time.js";
import type { Store } from "../store/store.js";
import type { Supervisor } from "../supervisor.js";

/** Opening a row says more than seeing it in a list. */
const OPENED = 2;
const LISTED = 1;
/** Rows of an answer that count as used together. */
const TOGETHER = 5;
const DELAY_MS = 1000;
const MAX_WAITING = 1000;

interface Showing {
  readonly session: string;
  readonly keys: readonly number[];
  readonly at: number;
  readonly keptMs: number;
}

interface Waiting {
  readonly keys: readonly number[];
  readonly together: readonly number[];
  readonly amount: number;
  readonly at: number;
}

export class UseCounter {
  readonly #store: Store;
  readonly #clock: { now(): number };
  readonly #supervisor: Supervisor;
  #waiting: Waiting[] = [];
  #showings: Showing[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store, clock: { now(): number }, supervisor: Supervisor) {
    this.#supervisor = supervisor;
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
    if (this.#showings.length >= MAX_WAITING) return;
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
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#supervisor.run("counting of uses", () => this.flush()).catch(() => {});
    }, DELAY_MS);
    this.#timer.unref();
  }

  /** Writes what is waiting, and keeps it where that fails. Rejects when the storage does. */
  async flush(waitMs?: number): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    const showings = this.#showings;
    this.#waiting = [];
    this.#showings = [];
    if (waiting.length + showings.length === 0 || this.#store.database.readOnly) return;
    try {
      const options = { background: true, ...(waitMs === undefined ? {} : { waitMs }) };
      await this.#store.database.write(() => this.#write(waiting, showings), options);
    } catch (error) {
      this.#waiting = [...waiting, ...this.#waiting].slice(0, MAX_WAITING);
      this.#showings = [...showings, ...this.#showings].slice(0, MAX_WAITING);
      throw error;
    }
  }

  #write(waiting: readonly Waiting[], showings: readonly Showing[]): void {
    const { uses, showings: shown } = this.#store;
    for (const { keys, together, amount, at } of waiting) {
      uses.count(keys, storageStamp(at), amount);
      uses.countTogether(together, at, amount);
    }
    for (const { session, keys, at, keptMs } of showings)
      shown.add(session, keys, storageStamp(at), storageStamp(at - keptMs));
  }
}
