// Vectors: the truth that the vector index is rebuilt from, and the log of changes that keeps it fresh.

import { storageTimeMs } from "../domain/time.js";
import type { VectorRows } from "../native/contract.js";
import type { Database } from "./database.js";
import type { SqlRow } from "./driver.js";

/** One stretch of a record's text, offsets in code points. An empty vector: the stretch waits for its own. */
export interface EmbeddedBlock {
  readonly startChar: number;
  readonly endChar: number;
  readonly vector: Float32Array;
}

/** Rows, and the id of the last one, null when there are no more. */
interface RowPage {
  readonly rows: VectorRows;
  readonly next: number | null;
}

/** Storage time and scope come from whichever table the key's low bit names. */
const ROWS = `
  SELECT e.record_key AS key, e.block AS block, e.vector AS vector,
         coalesce(m.scope, p.scope) AS scope, coalesce(m.created_at, p.created_at) AS created_at
  FROM embeddings e
  LEFT JOIN memories m ON e.record_key % 2 = 0 AND m.id = e.record_key / 2
  LEFT JOIN episodes p ON e.record_key % 2 = 1 AND p.id = e.record_key / 2`;

/** No row has it: an embedder of which no vector is kept, so that asking for them finds none. */
export const NO_CODE = 0;

export class Embeddings {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The code of an embedder's identity; `NO_CODE` while nothing of it is kept. */
  knownCode(identity: string): number {
    return Number(this.#db.value("SELECT code FROM embedders WHERE identity = ?", identity) ?? NO_CODE);
  }

  /** The code of an embedder's identity, made when it is new. Call inside the write transaction. */
  embedderCode(identity: string, dimension: number): number {
    const known = this.knownCode(identity);
    if (known !== NO_CODE) return known;
    return this.#db.transaction(() => {
      this.#db
        .sql("INSERT INTO embedders (identity, dimension) VALUES (?, ?) ON CONFLICT DO NOTHING")
        .run(identity, dimension);
      return Number(this.#db.value("SELECT code FROM embedders WHERE identity = ?", identity));
    });
  }

  /** Width of the vectors of a known identity. */
  dimensionOf(identity: string): number {
    return Number(this.#db.value("SELECT dimension FROM embedders WHERE identity = ?", identity) ?? 0);
  }

  /** Replaces a record's vectors of one embedder and logs the change. */
  put(recordKey: number, embedder: number, blocks: readonly EmbeddedBlock[]): void {
    this.#db.sql("DELETE FROM embeddings WHERE record_key = ? AND embedder = ?").run(recordKey, embedder);
    const insert = this.#db.sql(
      "INSERT INTO embeddings (record_key, embedder, block, start_char, end_char, vector) VALUES (?, ?, ?, ?, ?, ?)",
    );
    for (const [i, block] of blocks.entries()) {
      const { buffer, byteOffset, byteLength } = block.vector;
      insert.run(
        recordKey,
        embedder,
        i,
        block.startChar,
        block.endChar,
        new Uint8Array(buffer, byteOffset, byteLength),
      );
    }
    this.logChange(recordKey);
  }

  /** Notes that this embedder finds nothing to embed in a record's text, so that it is not asked again. */
  markBlank(recordKey: number, embedder: number): void {
    this.put(recordKey, embedder, [{ startChar: 0, endChar: 0, vector: new Float32Array(0) }]);
  }

  /** Removes a record's vectors of every embedder and logs the change. */
  remove(recordKey: number): void {
    this.#db.sql("DELETE FROM embeddings WHERE record_key = ?").run(recordKey);
    this.logChange(recordKey);
  }

  /** Tells index files that a record's rows are others. */
  logChange(recordKey: number): void {
    this.#db.sql("INSERT INTO vector_changes (record_key) VALUES (?)").run(recordKey);
  }

  /** Sequence number of the last change, 0 when there was none. */
  lastSequence(): number {
    return Number(this.#db.value("SELECT seq FROM sqlite_sequence WHERE name = 'vector_changes'") ?? 0);
  }

  /** Smallest sequence number still in the log, or the next; changes before it can only be had by a rebuild. */
  firstSequence(): number {
    return Number(this.#db.value("SELECT min(sequence) FROM vector_changes") ?? this.lastSequence() + 1);
  }

  /** Distinct records changed after `sequence` up to and including `until`, ascending. */
  changedAfter(sequence: number, until: number): Float64Array {
    const rows = this.#db
      .sql(
        "SELECT DISTINCT record_key AS key FROM vector_changes WHERE sequence > ? AND sequence <= ? ORDER BY record_key",
      )
      .all(sequence, until);
    return Float64Array.from(rows, (row) => Number(row["key"]));
  }

  /** Rows of these records made by one embedder, in key and block order. */
  rowsOf(keys: Float64Array, embedder: number, dimension: number): VectorRows {
    const rows = this.#db
      .sql(
        `${ROWS} WHERE e.record_key IN (SELECT value FROM json_each(?)) AND e.embedder = ? ORDER BY e.record_key, e.block`,
      )
      .all(JSON.stringify(Array.from(keys)), embedder);
    return toVectorRows(rows, dimension);
  }

  /** The vectors of these records' blocks made by one embedder, keyed by record. */
  vectorsOf(keys: readonly number[], embedder: number): Map<number, Float32Array[]> {
    const blocks = this.blocksOf(keys, embedder);
    return new Map(Array.from(blocks, ([key, of]) => [key, of.map(({ vector }) => vector)]));
  }

  /** The blocks of these records embedded by one embedder, in text order, keyed by record. */
  blocksOf(keys: readonly number[], embedder: number): Map<number, EmbeddedBlock[]> {
    const out = new Map<number, EmbeddedBlock[]>();
    const rows = this.#db
      .sql(
        `SELECT record_key, start_char, end_char, vector FROM embeddings
         WHERE record_key IN (SELECT value FROM json_each(?)) AND embedder = ? ORDER BY record_key, block`,
      )
      .all(JSON.stringify(keys), embedder);
    for (const row of rows) {
      const key = Number(row["record_key"]);
      const { byteLength } = row["vector"] as Uint8Array;
      // An empty one marks a stretch that waits, or a text that has nothing to embed; see `markBlank`.
      if (byteLength === 0 || byteLength % 4 !== 0) continue;
      const blocks = out.get(key) ?? [];
      out.set(key, blocks);
      blocks.push({
        startChar: Number(row["start_char"]),
        endChar: Number(row["end_char"]),
        // The driver's bytes may lie at any offset; float32 needs a multiple of four.
        vector: new Float32Array(Uint8Array.from(row["vector"] as Uint8Array).buffer),
      });
    }
    return out;
  }

  /** Up to `limit` rows of one embedder behind `afterId`, and the id to go on from (null at the end). */
  rowsAfter(afterId: number, embedder: number, dimension: number, limit: number): RowPage {
    const where = "e.id > ? AND e.embedder = ? ORDER BY e.id LIMIT ?";
    return this.#page(where, afterId, embedder, dimension, limit);
  }

  /** The same from the newest row (`beforeId` null) to the oldest. */
  rowsBefore(beforeId: number | null, embedder: number, dimension: number, limit: number): RowPage {
    const where = "e.id < ? AND e.embedder = ? ORDER BY e.id DESC LIMIT ?";
    return this.#page(where, beforeId ?? Number.MAX_SAFE_INTEGER, embedder, dimension, limit);
  }

  #page(where: string, id: number, embedder: number, dimension: number, limit: number): RowPage {
    const rows = this.#db
      .sql(`${ROWS.replace("SELECT", "SELECT e.id AS id,")} WHERE ${where}`)
      .all(id, embedder, limit);
    const last = rows[rows.length - 1];
    return {
      rows: toVectorRows(rows, dimension),
      next: rows.length < limit || last === undefined ? null : Number(last["id"]),
    };
  }

  /** Vectors stored for one embedder. */
  count(embedder: number): number {
    return Number(this.#db.value("SELECT count(*) FROM embeddings WHERE embedder = ?", embedder));
  }
}

function toVectorRows(all: readonly SqlRow[], dimension: number): VectorRows {
  // A blob of another width or without a record is damage; leaving it out keeps the rest searchable.
  const rows = all.filter(
    (row) => (row["vector"] as Uint8Array).byteLength === dimension * 4 && row["scope"] !== null,
  );
  const vectors = new Float32Array(rows.length * dimension);
  const bytes = new Uint8Array(vectors.buffer);
  for (const [i, row] of rows.entries()) bytes.set(row["vector"] as Uint8Array, i * dimension * 4);
  return {
    keys: Float64Array.from(rows, (row) => Number(row["key"])),
    blocks: Uint32Array.from(rows, (row) => Number(row["block"])),
    scopes: Uint32Array.from(rows, (row) => Number(row["scope"])),
    times: Float64Array.from(rows, (row) => storageTimeMs(String(row["created_at"]))),
    vectors,
  };
}
