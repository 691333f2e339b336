// The turn of every write: one after the other within this process, waiting for other processes without
// holding up the event loop.

import { setTimeout as sleep } from "node:timers/promises";
import { storageFault } from "../errors.js";
import { type OnWait, waitListener } from "../waiting.js";

export interface WriteOptions {
  /** how long the write waits for its turn, ms; then it is refused with `storage_busy` */
  readonly waitMs?: number;
  /** told about once a second while it waits: milliseconds waited so far */
  readonly onWait?: OnWait;
  /** its turn comes after all other writes of this process that wait */
  readonly background?: boolean;
}

/** Tries one write; false when another process holds the lock. Throws what the work throws. */
export type TryWrite = () => boolean;

interface Waiting {
  readonly tryWrite: TryWrite;
  readonly since: number;
  readonly deadline: number;
  readonly options: WriteOptions;
  readonly onWait: OnWait | undefined;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
  toldAt: number;
}

/** Between two tries, ms. The longer a write has waited, the more often it tries: older ones win over newer. */
const POLL_MS = { young: 12, old: 3, oldAfter: 1000 };
const TELL_EVERY_MS = 1000;

export class WriteQueue {
  readonly #defaultWaitMs: number;
  readonly #foreground: Waiting[] = [];
  readonly #background: Waiting[] = [];
  #pumping: Promise<void> | null = null;
  #isClosed = false;

  constructor(defaultWaitMs: number) {
    this.#defaultWaitMs = defaultWaitMs;
  }

  /** Runs `tryWrite` until it is true. At once where nobody waits; rejects with `storage_busy` after the wait. */
  run(tryWrite: TryWrite, options: WriteOptions): Promise<void> {
    if (this.#isClosed) return Promise.reject(storageFault("storage_unavailable"));
    try {
      if (this.#pumping === null && tryWrite()) return Promise.resolve();
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise<void>((done, fail) => {
      const since = performance.now();
      const deadline = since + (options.waitMs ?? this.#defaultWaitMs);
      const onWait = options.onWait ?? (options.background === true ? undefined : waitListener());
      this.#queueOf(options).push({ tryWrite, since, deadline, options, onWait, done, fail, toldAt: since });
      this.#pumping ??= this.#pump();
    });
  }

  /** Waits until no write waits, then takes no more. */
  async close(): Promise<void> {
    while (this.#pumping !== null) await this.#pumping;
    this.#isClosed = true;
  }

  async #pump(): Promise<void> {
    // What was there first has just been refused the lock.
    let wasRefused = true;
    for (let head = this.#next(); head !== undefined; head = this.#next()) {
      await sleep(wasRefused ? pollMs(performance.now() - head.since) : 0);
      this.#refuseOverdue();
      // One that came meanwhile may go before the head, or the head be overdue.
      const next = this.#next();
      wasRefused = next !== undefined && !this.#attempt(next);
    }
    this.#pumping = null;
  }

  #next(): Waiting | undefined {
    return this.#foreground[0] ?? this.#background[0];
  }

  /** False when another process holds the lock. */
  #attempt(waiting: Waiting): boolean {
    try {
      if (!waiting.tryWrite()) {
        tell(waiting);
        return false;
      }
      waiting.done();
    } catch (error) {
      waiting.fail(error);
    }
    this.#remove(waiting);
    return true;
  }

  #queueOf({ background }: WriteOptions): Waiting[] {
    return background === true ? this.#background : this.#foreground;
  }

  #refuseOverdue(): void {
    const now = performance.now();
    for (const waiting of [...this.#foreground, ...this.#background]) {
      if (waiting.deadline > now) continue;
      this.#remove(waiting);
      waiting.fail(storageFault("storage_busy"));
    }
  }

  #remove(waiting: Waiting): void {
    const queue = this.#queueOf(waiting.options);
    const place = queue.indexOf(waiting);
    if (place >= 0) queue.splice(place, 1);
  }
}

function tell(waiting: Waiting): void {
  const now = performance.now();
  if (now - waiting.toldAt < TELL_EVERY_MS) return;
  waiting.toldAt = now;
  waiting.onWait?.(now - waiting.since);
}

function pollMs(waitedMs: number): number {
  return 1 + Math.random() * (waitedMs > POLL_MS.oldAfter ? POLL_MS.old : POLL_MS.young);
}
