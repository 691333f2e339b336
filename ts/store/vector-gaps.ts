// Records that have no vector of the present embedder, and what tells that there may be new ones.

import type { RecordKind } from "../domain/record.js";
import type { Database } from "./database.js";
import { type RecordStep, stepThrough } from "./record-steps.js";
import { RECORD_TABLES, recordTexts } from "./records.js";

const MEMORY_KEY = "m.id * 2";
const EPISODE_KEY = "e.id * 2 + 1";
/** As the index \`embeddings_waiting\` has it. */
const IS_WAITING = "length(vector) = 0 AND end_char > 0";

export class VectorGaps {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Ids of records without a vector of this embedder among the next below `before` (null: the newest). */
  idsWithoutVector(kind: RecordKind, embedder: number, before: number | null, limit: number): RecordStep {
    const table = RECORD_TABLES[kind];
    const key = kind === "mem" ? "r.id * 2" : "r.id * 2 + 1";
    const query = this.#db.sql(
      `SELECT r.id AS id FROM ${table} r WHERE r.id >= ? AND r.id < ?
         AND NOT EXISTS (SELECT 1 FROM embeddings v WHERE v.record_key = ${key} AND v.embedder = ?)
       ORDER BY r.id DESC LIMIT ?`,
    );
    return stepThrough(this.#db, { kind, before, limit }, (low, high) =>
      query.all(low, high, embedder, limit).map((row) => Number(row["id"])),
    );
  }

  /** Keys of records of which a stretch waits for its vectors, ascending, behind `after`. */
  waitingKeys(embedder: number, after: number, limit: number): number[] {
    return this.#db
      .sql(
        `SELECT DISTINCT record_key AS key FROM embeddings
         WHERE ${IS_WAITING} AND embedder = ? AND record_key > ? ORDER BY record_key LIMIT ?`,
      )
      .all(embedder, after, limit)
      .map((row) => Number(row["key"]));
  }

  /** Changes when records or vectors may have come; cheap to ask. */
  writeMark(): string {
    const last = (table: string): string =>
      String(this.#db.value("SELECT seq FROM sqlite_sequence WHERE name = ?", table) ?? 0);
    return `${last("memories")}:${last("episodes")}:${last("vector_changes")}`;
  }

  /** Records of an agent (null = all) without a vector of this embedder, and those of which a stretch waits. */
  countWithoutVector(
    embedder: number,
    agentId: string | null,
  ): { memories: number; episodes: number; waiting: number } {
    const count = (table: string, alias: string, key: string): number =>
      Number(
        this.#db.value(
          `SELECT count(*) FROM ${table} ${alias} WHERE (? IS NULL OR ${alias}.agent_id = ?)
             AND NOT EXISTS (SELECT 1 FROM embeddings v WHERE v.record_key = ${key} AND v.embedder = ?)`,
          agentId,
          agentId,
          embedder,
        ),
      );
    const waiting = this.#db.value(
      `SELECT count(DISTINCT record_key) FROM embeddings v WHERE ${IS_WAITING} AND embedder = ?
         AND (? IS NULL
           OR EXISTS (SELECT 1 FROM memories m WHERE v.record_key % 2 = 0 AND m.id = v.record_key / 2 AND m.agent_id = ?)
           OR EXISTS (SELECT 1 FROM episodes e WHERE v.record_key % 2 = 1 AND e.id = v.record_key / 2 AND e.agent_id = ?))`,
      embedder,
      agentId,
      agentId,
      agentId,
    );
    return {
      memories: count("memories", "m", MEMORY_KEY),
      episodes: count("episodes", "e", EPISODE_KEY),
      waiting: Number(waiting),
    };
  }

  /** Texts to embed of these records: keys that are gone are absent. */
  texts(keys: readonly number[]): Map<number, string> {
    return new Map(recordTexts(this.#db, keys).map(({ key, text }) => [key, text]));
  }
}
