// Entries of the log of vector changes go when every index file has taken them up. The newest ones stay for
// indexes that live in a process's memory; one that is farther behind is filled anew.

import type { Database } from "./database.js";
import type { Settings } from "./settings.js";

/** Entries kept behind what all indexes have. */
const KEPT = 10_000;
/** Index files of a model that is not used any more hold so many back, and then do without. */
const MOST_HELD_BACK = 100_000;
/** Entries removed in one transaction. */
const STEP = 2000;
/** An index is noted when it has taken up so many more. */
const NOTED_EVERY = 1000;

/** What an embedder's index file has taken up is kept under this name and its code. */
const NOTE = "vectors_taken_up:";

export class ChangeLog {
  readonly #db: Database;
  readonly #settings: Settings;

  constructor(db: Database, settings: Settings) {
    this.#db = db;
    this.#settings = settings;
  }

  /** Removes some entries that no index needs, `sequence` being published by this embedder's. Whether more are left. */
  async shorten(embedder: number, sequence: number): Promise<boolean> {
    if (this.#db.readOnly) return false;
    return this.#db.write(() => this.#shorten(embedder, sequence), { background: true });
  }

  #shorten(embedder: number, sequence: number): boolean {
    const noted = this.#settings.get(NOTE + embedder);
    // Less than what is noted: the database was restored, or the index made anew from a copy of it.
    if (noted === null || sequence < Number(noted) || sequence >= Number(noted) + NOTED_EVERY)
      this.#settings.put(NOTE + embedder, String(sequence));
    const last = this.#bound(sequence);
    const first = this.#db.value("SELECT min(sequence) FROM vector_changes");
    if (first === null || Number(first) > last) return false;
    const until = Math.min(last, Number(first) + STEP - 1);
    this.#db.sql("DELETE FROM vector_changes WHERE sequence <= ?").run(until);
    return until < last;
  }

  /** The last entry that may go. */
  #bound(sequence: number): number {
    const notes = this.#db.sql("SELECT value FROM settings WHERE name GLOB ?").all(`${NOTE}*`);
    const least = Math.min(sequence, ...notes.map((row) => Number(row["value"])));
    return Math.max(least, sequence - MOST_HELD_BACK) - KEPT;
  }
}
