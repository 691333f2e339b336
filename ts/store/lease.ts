// The right of one process among many to do a piece of background work, until a moment that it keeps moving
// on. A process that is killed loses it by itself.

import { randomUUID } from "node:crypto";
import type { Database } from "./database.js";
import type { Settings } from "./settings.js";

export class Lease {
  readonly #db: Database;
  readonly #settings: Settings;
  readonly #name: string;
  readonly #now: () => number;
  readonly #owner = randomUUID();
  #isMine = false;

  constructor(db: Database, settings: Settings, name: string, now: () => number) {
    this.#db = db;
    this.#settings = settings;
    this.#name = `lease:${name}`;
    this.#now = now;
  }

  /** Takes or prolongs it; false while another process has it. */
  take(ms: number): boolean {
    return this.#db.transaction(() => {
      const held = parse(this.#settings.get(this.#name));
      if (held !== null && held.owner !== this.#owner && held.until > this.#now()) return false;
      this.#settings.put(this.#name, JSON.stringify({ owner: this.#owner, until: this.#now() + ms }));
      this.#isMine = true;
      return true;
    });
  }

  release(): void {
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
