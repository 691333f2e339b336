// The right of one process among many to do a piece of background work. It is prolonged while it is held, so
// it can be short: a process that is killed loses it within that time.

import { randomUUID } from "node:crypto";
import { describeError } from "../errors.js";
import { log } from "../log.js";
import type { Database } from "./database.js";
import type { Settings } from "./settings.js";

export class Lease {
  readonly #db: Database;
  readonly #settings: Settings;
  readonly #name: string;
  readonly #now: () => number;
  readonly #owner = randomUUID();
  #isMine = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database, settings: Settings, name: string, now: () => number) {
    this.#db = db;
    this.#settings = settings;
    this.#name = `lease:${name}`;
    this.#now = now;
  }

  /** Takes it for `ms` and prolongs it until `release`; false while another process has it. */
  take(ms: number): boolean {
    this.#isMine = this.#put(ms);
    clearInterval(this.#timer);
    if (this.#isMine) {
      this.#timer = setInterval(() => this.#prolong(ms), ms / 3);
      this.#timer.unref();
    }
    return this.#isMine;
  }

  #put(ms: number): boolean {
    return this.#db.transaction(() => {
      const held = parse(this.#settings.get(this.#name));
      if (held !== null && held.owner !== this.#owner && held.until > this.#now()) return false;
      this.#settings.put(this.#name, JSON.stringify({ owner: this.#owner, until: this.#now() + ms }));
      return true;
    });
  }

  #prolong(ms: number): void {
    try {
      this.#put(ms);
    } catch (error) {
      // The work itself meets the same store and reports it.
      log("debug", `lease not prolonged: ${describeError(error)}`);
    }
  }

  release(): void {
    clearInterval(this.#timer);
    if (!this.#isMine) return;
    this.#isMine = false;
    this.#db.transaction(() => {
      if (parse(this.#settings.get(this.#name))?.owner === this.#owner) this.#settings.remove(this.#name);
    });
  }
}

function parse(text: string | null): { owner: string; until: number } | null {
  try {
    const { owner, until } = JSON.parse(text ?? "") as { owner: unknown; until: unknown };
    return typeof owner === "string" && typeof until === "number" ? { owner, until } : null;
  } catch {
    return null;
  }
}
