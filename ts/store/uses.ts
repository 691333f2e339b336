// How often and when records were recalled, and which were used together. Written after an answer, never on
// its path, and only by reads that somebody asked for: ambient recall counts nothing.

import { storageTimeMs } from "../domain/time.js";
import { decayed, MAX_CO_USE } from "../domain/use.js";
import type { Database } from "./database.js";

export interface Use {
  readonly recallCount: number;
  /** the count as it decayed until `lastRecalledAt` */
  readonly weight: number;
  /** storage stamp, UTC */
  readonly lastRecalledAt: string | null;
}

export interface CoUse {
  readonly key: number;
  readonly other: number;
  /** decayed to the moment of asking, 0 to `MAX_CO_USE` */
  readonly weight: number;
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
          weight: Number(row["weight"]),
          lastRecalledAt: row["last_recalled_at"] === null ? null : String(row["last_recalled_at"]),
        },
      ]),
    );
  }

  /** Counts `amount` more uses of each record. */
  count(keys: readonly number[], recalledAt: string, amount = 1): void {
    this.#db.transaction(() => {
      const living = this.#living(keys);
      const known = this.get(living);
      const put = this.#db.sql(
        `INSERT INTO uses (record_key, recall_count, weight, last_recalled_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (record_key) DO UPDATE SET recall_count = recall_count + excluded.recall_count, weight = ?, last_recalled_at = excluded.last_recalled_at`,
      );
      for (const key of living) {
        const use = known.get(key);
        const elapsed = storageTimeMs(recalledAt) - storageTimeMs(use?.lastRecalledAt ?? recalledAt);
        const weight = decayed(use?.weight ?? 0, elapsed) + amount;
        put.run(key, amount, amount, recalledAt, weight);
      }
    });
  }

  /** Those of these records that still exist, ascending: use is counted late, and a row may be gone by then. */
  #living(keys: readonly number[]): number[] {
    return this.#db
      .sql(
        `SELECT DISTINCT value AS key FROM json_each(?)
         WHERE (value % 2 = 0 AND EXISTS (SELECT 1 FROM memories WHERE id = value / 2))
            OR (value % 2 = 1 AND EXISTS (SELECT 1 FROM episodes WHERE id = value / 2))
         ORDER BY value`,
      )
      .all(JSON.stringify(keys))
      .map((row) => Number(row["key"]));
  }

  /** Adds to the weight of every pair among these records; a weight approaches its bound and never passes it. */
  countTogether(keys: readonly number[], now: number, amount = 1): void {
    this.#db.transaction(() => {
      const sorted = this.#living(keys);
      const get = this.#db.sql("SELECT weight, moment FROM co_uses WHERE low_key = ? AND high_key = ?");
      const put = this.#db.sql(
        `INSERT INTO co_uses (low_key, high_key, weight, moment) VALUES (?, ?, ?, ?)
         ON CONFLICT (low_key, high_key) DO UPDATE SET weight = excluded.weight, moment = excluded.moment`,
      );
      for (const [i, low] of sorted.entries()) {
        for (const high of sorted.slice(i + 1)) {
          const row = get.get(low, high);
          const before = row === undefined ? 0 : decayed(Number(row["weight"]), now - Number(row["moment"]));
          put.run(low, high, before + amount * (1 - before / MAX_CO_USE), now);
        }
      }
    });
  }

  /** Records used together with one of these, heaviest first. */
  together(keys: readonly number[], now: number, limit: number): CoUse[] {
    const json = JSON.stringify(keys);
    return this.#db
      .sql(
        `SELECT low_key AS key, high_key AS other, weight, moment FROM co_uses WHERE low_key IN (SELECT value FROM json_each(?))
         UNION ALL
         SELECT high_key AS key, low_key AS other, weight, moment FROM co_uses WHERE high_key IN (SELECT value FROM json_each(?))
         ORDER BY weight DESC, key, other LIMIT ?`,
      )
      .all(json, json, limit)
      .map((row) => ({
        key: Number(row["key"]),
        other: Number(row["other"]),
        weight: decayed(Number(row["weight"]), now - Number(row["moment"])),
      }));
  }

  /** Every pair that a record is in, as it is kept. */
  pairsOf(key: number): { low: number; high: number; weight: number; moment: number }[] {
    return this.#db
      .sql("SELECT * FROM co_uses WHERE low_key = ? UNION ALL SELECT * FROM co_uses WHERE high_key = ?")
      .all(key, key)
      .map((row) => ({
        low: Number(row["low_key"]),
        high: Number(row["high_key"]),
        weight: Number(row["weight"]),
        moment: Number(row["moment"]),
      }));
  }

  remove(key: number): void {
    this.#db.sql("DELETE FROM uses WHERE record_key = ?").run(key);
  }
}
