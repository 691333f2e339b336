// Small named values kept in the database: calibration, leases.

import type { Database } from "./database.js";

export class Settings {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  get(name: string): string | null {
    const value = this.#db.value("SELECT value FROM settings WHERE name = ?", name);
    return value === undefined ? null : String(value);
  }

  put(name: string, value: string): void {
    this.#db
      .sql(
        "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      )
      .run(name, value);
  }

  remove(name: string): void {
    this.#db.sql("DELETE FROM settings WHERE name = ?").run(name);
  }
}
