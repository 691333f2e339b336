// How often and when records were recalled. Written after an answer, never on its path.

import type { Database } from "./database.js";

export interface Use {
  readonly recallCount: number;
  /** storage stamp, UTC */
  readonly lastRecalledAt: string | null;
}

export class Uses {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Uses of these records; records never used are absent. */
  get(keys: readonly number[]): Map<number, Use> {
    const rows = this.#db
      .sql("SELECT * FROM uses WHERE record_key IN (SELECT value FROM json_each(?))")
      .all(JSON.stringify(keys));
    return new Map(
      rows.map((row) => [
        Number(row["record_key"]),
        {
          recallCount: Number(row["recall_count"]),
          lastRecalledAt: row["last_recalled_at"] === null ? null : String(row["last_recalled_at"]),
        },
      ]),
    );
  }

  /** Counts one more recall of each record. */
  count(keys: readonly number[], recalledAt: string): void {
    this.#db.transaction(() => {
      const add = this.#db.sql(
        `INSERT INTO uses (record_key, recall_count, last_recalled_at) VALUES (?, 1, ?)
         ON CONFLICT (record_key) DO UPDATE SET recall_count = recall_count + 1, last_recalled_at = excluded.last_recalled_at`,
      );
      for (const key of keys) add.run(key, recalledAt);
    });
  }

  remove(key: number): void {
    this.#db.sql("DELETE FROM uses WHERE record_key = ?").run(key);
  }
}
