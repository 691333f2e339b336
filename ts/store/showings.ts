// What ambient recall showed in each session lately. It damps repeats; losing it only means a repeat.

import type { Database } from "./database.js";

export class Showings {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** How often each record was shown in the last `turns` answers of the session; unshown records are absent. */
  counts(session: string, turns: number): Map<number, number> {
    const rows = this.#db
      .sql(
        `SELECT record_key, count(*) AS times FROM showings WHERE session = ?
           AND turn > (SELECT coalesce(max(turn), 0) FROM showings WHERE session = ?) - ? GROUP BY record_key`,
      )
      .all(session, session, turns);
    return new Map(rows.map((row) => [Number(row["record_key"]), Number(row["times"])]));
  }

  /** Records one answer of a session, and forgets what was shown before `oldest`. */
  add(session: string, keys: readonly number[], shownAt: string, oldest: string): void {
    this.#db.transaction(() => {
      const turn = Number(
        this.#db.value("SELECT coalesce(max(turn), 0) + 1 FROM showings WHERE session = ?", session),
      );
      const insert = this.#db.sql(
        "INSERT INTO showings (session, record_key, turn, shown_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      );
      for (const key of keys) insert.run(session, key, turn, shownAt);
      this.#db.sql("DELETE FROM showings WHERE shown_at < ?").run(oldest);
    });
  }
}
