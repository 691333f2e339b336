// The right of one process among many to do a piece of background work. It is prolonged while it is held, so
// it can be short: a process that is killed loses it within that time.

import { randomUUID } from "node:crypto";
import { describeError } from "../errors.js";
import { log } from "../log.js";
import type { Database } from "./database.js";
import type { Settings } from "./settings.js";

/** Who waits for the end of some work does not wait for this: the lease ends by itself. */
const RELEASE_WAIT_MS = 100;

export class Lease {
  readonly #db: Database;
  readonly #settings: Settings;
  readonly #name: string;
  readonly #now: () => number;
  readonly #owner = randomUUID();
  #isMine = false;
  #isProlonging = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database, settings: Settings, name: string, now: () => number) {
    this.#db = db;
    this.#settings = settings;
    this.#name = `lease:${name}`;
    this.#now = now;
  }

  /** Takes it for `ms` and prolongs it until `release`; false while another process has it. */
  async take(ms: number): Promise<boolean> {
    this.#isMine = await this.#db.write(() => this.#put(ms), { background: true });
    clearInterval(this.#timer);
    if (this.#isMine) {
      this.#timer = setInterval(() => this.#prolong(ms).catch(logFailure), ms / 3);
      this.#timer.unref();
    }
    return this.#isMine;
  }

  #put(ms: number): boolean {
    const held = parse(this.#settings.get(this.#name));
    if (held !== null && held.owner !== this.#owner && held.until > this.#now()) return false;
    this.#settings.put(this.#name, JSON.stringify({ owner: this.#owner, until: this.#now() + ms }));
    return true;
  }

  async #prolong(ms: number): Promise<void> {
    if (this.#isProlonging) return;
    this.#isProlonging = true;
    try {
      // It may have been given back while this waited for its turn.
      await this.#db.write(() => this.#isMine && this.#put(ms), { background: true });
    } finally {
      this.#isProlonging = false;
    }
  }

  /** Never rejects: what is not given back ends by itself when its time is over. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (!this.#isMine) return;
    this.#isMine = false;
    const remove = (): void => {
      if (parse(this.#settings.get(this.#name))?.owner === this.#owner) this.#settings.remove(this.#name);
    };
    await this.#db.write(remove, { background: true, waitMs: RELEASE_WAIT_MS }).catch(logFailure);
  }
}

/** The work itself meets the same store and reports it. */
function logFailure(error: unknown): void {
  log("debug", `lease: ${describeError(error)}`);
}

function parse(text: string | null): { owner: string; until: number } | null {
  try {
    const { owner, until } = JSON.parse(text ?? "") as { owner: unknown; until: unknown };
    return typeof owner === "string" && typeof until === "number" ? { owner, until } : null;
  } catch {
    return null;
  }
}
