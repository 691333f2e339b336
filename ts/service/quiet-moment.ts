// Work that can wait for a moment in which nobody asks anything.

import type { Supervisor } from "../supervisor.js";

const QUIET_MS = 2000;
/** A server that is never quiet gets it done all the same. */
const LATEST_MS = 60_000;

export class QuietMoment {
  readonly #supervisor: Supervisor;
  readonly #name: string;
  readonly #work: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #latest = 0;

  constructor(supervisor: Supervisor, name: string, work: () => Promise<void>) {
    this.#supervisor = supervisor;
    this.#name = name;
    this.#work = work;
  }

  /** The work is due: it runs two seconds after the last `touch`, and within a minute. */
  start(): void {
    if (this.#timer === undefined) this.#latest = Date.now() + LATEST_MS;
    this.#arm();
  }

  /** Somebody asked something. */
  touch(): void {
    if (this.#timer !== undefined) this.#arm();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const delay = Math.max(0, Math.min(QUIET_MS, this.#latest - Date.now()));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#supervisor.run(this.#name, this.#work).catch(() => {});
    }, delay);
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
