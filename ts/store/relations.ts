// Declared edges between records, by record key. Triggers remove them with either end.

import type { Relation, RelationType } from "../domain/relation.js";
import type { Database } from "./database.js";
import type { SqlRow } from "./driver.js";

export class Relations {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Returns false when the edge exists already. */
  add(from: number, to: number, type: RelationType, createdAt: string): boolean {
    return (
      this.#db
        .sql(
          "INSERT INTO relations (from_key, to_key, type, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )
        .run(from, to, type, createdAt).changes > 0
    );
  }

  has(from: number, to: number, type: RelationType): boolean {
    const found = this.#db.value(
      "SELECT 1 FROM relations WHERE from_key = ? AND to_key = ? AND type = ?",
      from,
      to,
      type,
    );
    return found !== undefined;
  }

  /** Edges that start at a record, and those that end there. */
  edgesOf(key: number): { out: Relation[]; in: Relation[] } {
    const edges = (end: "from_key" | "to_key"): Relation[] =>
      this.#db.sql(`SELECT * FROM relations WHERE ${end} = ?`).all(key).map(toRelation);
    return { out: edges("from_key"), in: edges("to_key") };
  }

  /** Returns false when there is no such edge. */
  remove(from: number, to: number, type: RelationType): boolean {
    return (
      this.#db.sql("DELETE FROM relations WHERE from_key = ? AND to_key = ? AND type = ?").run(from, to, type)
        .changes > 0
    );
  }

  /** Edges that start or end at one of these records, newest first; of the same second the larger keys first. */
  touching(keys: readonly number[], limit: number): Relation[] {
    const json = JSON.stringify(keys);
    return this.#db
      .sql(
        `SELECT from_key, to_key, type, created_at FROM relations WHERE from_key IN (SELECT value FROM json_each(?))
         UNION
         SELECT from_key, to_key, type, created_at FROM relations WHERE to_key IN (SELECT value FROM json_each(?))
         ORDER BY created_at DESC, from_key DESC, to_key DESC LIMIT ?`,
      )
      .all(json, json, limit)
      .map(toRelation);
  }
}

function toRelation(row: SqlRow): Relation {
  return {
    from: Number(row["from_key"]),
    to: Number(row["to_key"]),
    type: String(row["type"]) as RelationType,
    createdAt: String(row["created_at"]),
  };
}
