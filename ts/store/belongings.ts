// What hangs on records when they move: use, relations, shared use, vectors.

import type { RelationType } from "../domain/relation.js";
import type { Database } from "./database.js";
import type { SqlRow } from "./driver.js";
import type { EmbeddedBlock } from "./embeddings.js";

/** How a record was used, as it travels. */
export interface MovedUse {
  readonly recallCount: number;
  readonly weight: number;
  readonly lastRecalledAt: string | null;
}

/** Everything that hangs on a record. */
export interface RecordBelongings {
  readonly use: MovedUse | null;
  /** relations that start here, in the order of their other ends */
  readonly relations: readonly {
    readonly to: number;
    readonly type: RelationType;
    readonly createdAt: string;
  }[];
  /** records with larger keys that were used together with this one; `moment` in ms */
  readonly usedWith: readonly { readonly key: number; readonly weight: number; readonly moment: number }[];
  readonly vectors: { readonly identity: string; readonly blocks: readonly EmbeddedBlock[] } | null;
}

export class Belongings {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * What hangs on these records. Vectors are those of `embedder`, else of the embedder that was added last, and
   * only where no stretch waits for its own: half of them would pass for all elsewhere.
   */
  of(keys: readonly number[], embedder: number | "none" | "newest"): Map<number, RecordBelongings> {
    const json = JSON.stringify(keys);
    const uses = new Map(
      this.#db
        .sql("SELECT * FROM uses WHERE record_key IN (SELECT value FROM json_each(?))")
        .all(json)
        .map((row) => [Number(row["record_key"]), toUse(row)]),
    );
    const relations = groupBy(
      this.#db
        .sql(
          "SELECT from_key AS key, to_key, type, created_at FROM relations WHERE from_key IN (SELECT value FROM json_each(?)) ORDER BY from_key, to_key, type",
        )
        .all(json),
    );
    const together = groupBy(
      this.#db
        .sql(
          "SELECT low_key AS key, high_key, weight, moment FROM co_uses WHERE low_key IN (SELECT value FROM json_each(?)) ORDER BY low_key, high_key",
        )
        .all(json),
    );
    const vectors = embedder === "none" ? new Map() : this.#vectors(json, embedder);
    return new Map(
      keys.map((key) => [
        key,
        {
          use: uses.get(key) ?? null,
          relations: (relations.get(key) ?? []).map((row) => ({
            to: Number(row["to_key"]),
            type: String(row["type"]) as RelationType,
            createdAt: String(row["created_at"]),
          })),
          usedWith: (together.get(key) ?? []).map((row) => ({
            key: Number(row["high_key"]),
            weight: Number(row["weight"]),
            moment: Number(row["moment"]),
          })),
          vectors: vectors.get(key) ?? null,
        },
      ]),
    );
  }

  #vectors(keysJson: string, embedder: number | "newest"): Map<number, RecordBelongings["vectors"]> {
    const rows = groupBy(
      this.#db
        .sql(
          `SELECT e.record_key AS key, b.code AS code, b.identity AS identity, e.start_char, e.end_char, e.vector
           FROM embeddings e JOIN embedders b ON b.code = e.embedder
           WHERE e.record_key IN (SELECT value FROM json_each(?)) AND length(e.vector) = b.dimension * 4 AND (? IS NULL OR e.embedder = ?)
             AND NOT EXISTS (SELECT 1 FROM embeddings w WHERE w.record_key = e.record_key AND w.embedder = e.embedder
                             AND length(w.vector) = 0)
           ORDER BY e.record_key, b.code DESC, e.block`,
        )
        .all(keysJson, embedder === "newest" ? null : embedder, embedder === "newest" ? null : embedder),
    );
    const out = new Map<number, RecordBelongings["vectors"]>();
    for (const [key, all] of rows) {
      const newest = all.filter((row) => row["code"] === all[0]?.["code"]);
      out.set(key, { identity: String(all[0]?.["identity"]), blocks: newest.map(toBlock) });
    }
    return out;
  }
}

function toUse(row: SqlRow): MovedUse {
  return {
    recallCount: Number(row["recall_count"]),
    weight: Number(row["weight"]),
    lastRecalledAt: row["last_recalled_at"] === null ? null : String(row["last_recalled_at"]),
  };
}

function toBlock(row: SqlRow): EmbeddedBlock {
  return {
    startChar: Number(row["start_char"]),
    endChar: Number(row["end_char"]),
    // The driver's bytes may lie at any offset; float32 needs a multiple of four.
    vector: new Float32Array(Uint8Array.from(row["vector"] as Uint8Array).buffer),
  };
}

function groupBy(rows: readonly SqlRow[]): Map<number, SqlRow[]> {
  const groups = new Map<number, SqlRow[]>();
  for (const row of rows) {
    const key = Number(row["key"]);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(row);
  }
  return groups;
}
