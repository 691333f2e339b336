// When each embedder was last in use, and the end of the vectors of those that are not any more.

import type { Database } from "./database.js";
import type { Settings } from "./settings.js";

export interface UsedEmbedder {
  readonly code: number;
  readonly identity: string;
  /** ms since the epoch, to the hour; 0 when unknown */
  readonly lastUsedAt: number;
}

const HOUR_MS = 3_600_000;

export class EmbedderUses {
  readonly #db: Database;
  readonly #settings: Settings;

  constructor(db: Database, settings: Settings) {
    this.#db = db;
    this.#settings = settings;
  }

  /** Notes that a process works with this embedder; writes once an hour. */
  async touch(code: number, now: number): Promise<void> {
    if (Math.abs(now - this.#lastUsedAt(code)) < HOUR_MS) return;
    await this.#db.write(() => this.#settings.put(nameOf(code), String(now)), { background: true });
  }

  #lastUsedAt(code: number): number {
    return Number(this.#settings.get(nameOf(code)) ?? 0);
  }

  /** Embedders that hold vectors, the last used first; of the same hour the one that came later. */
  byLastUse(): UsedEmbedder[] {
    return this.#db
      .sql(
        `SELECT code, identity FROM embedders b
         WHERE EXISTS (SELECT 1 FROM embeddings v WHERE v.embedder = b.code)`,
      )
      .all()
      .map((row) => ({ code: Number(row["code"]), identity: String(row["identity"]) }))
      .map((embedder) => ({ ...embedder, lastUsedAt: this.#lastUsedAt(embedder.code) }))
      .sort((a, b) => b.lastUsedAt - a.lastUsedAt || b.code - a.code);
  }

  /**
   * Removes up to `limit` vectors of an embedder, from record key `from` on, of records that have a vector of
   * `successor`. `next` is the key to go on from, null at the end.
   */
  removeVectors(
    code: number,
    successor: number,
    from: number,
    limit: number,
  ): Promise<{ removed: number; next: number | null }> {
    const remove = () => {
      const rows = this.#db
        .sql(
          `SELECT id, record_key AS key FROM embeddings v WHERE record_key >= ? AND embedder = ?
             AND EXISTS (SELECT 1 FROM embeddings s WHERE s.record_key = v.record_key AND s.embedder = ?)
           ORDER BY record_key LIMIT ?`,
        )
        .all(from, code, successor, limit);
      this.#db
        .sql("DELETE FROM embeddings WHERE id IN (SELECT value FROM json_each(?))")
        .run(JSON.stringify(rows.map((row) => Number(row["id"]))));
      const last = rows[rows.length - 1];
      const isEnd = last === undefined || rows.length < limit;
      if (isEnd) this.#settings.remove(nameOf(code));
      return { removed: rows.length, next: isEnd ? null : Number(last["key"]) };
    };
    return this.#db.write(remove, { background: true });
  }
}

function nameOf(code: number): string {
  return `embedder_used:${code}`;
}
