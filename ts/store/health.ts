// Queries of the health checks: rows as they lie there, unread, and what does not fit together.

import type { Database } from "./database.js";
import type { SqlRow } from "./driver.js";

/** A memory's columns as stored; JSON columns are texts that may be damaged. */
export interface RawMemory {
  readonly id: number;
  readonly agentId: string;
  readonly projectId: string;
  readonly channel: string;
  readonly createdAt: string;
  readonly locked: boolean;
  readonly timestamp: string;
  readonly instant: number | null;
  readonly source: string;
  readonly tags: string;
  readonly metadata: string;
  readonly content: string;
  readonly contentHash: Uint8Array;
}

export interface RawEpisode {
  readonly id: number;
  readonly createdAt: string;
  readonly startTime: string | null;
  readonly summary: string;
}

/** New values of columns; what is left out stays. */
export interface MemoryPatch {
  readonly source?: string;
  readonly tags?: string;
  readonly metadata?: string;
  readonly timestamp?: string;
  readonly instant?: number | null;
  readonly contentHash?: Uint8Array;
}

const PATCH_COLUMNS: Readonly<Record<keyof MemoryPatch, string>> = {
  source: "source",
  tags: "tags",
  metadata: "metadata",
  timestamp: "timestamp",
  instant: "instant",
  contentHash: "content_hash",
};

/** Rows of derived tables whose record is gone. */
const GONE = `(record_key % 2 = 0 AND NOT EXISTS (SELECT 1 FROM memories WHERE id = record_key / 2))
  OR (record_key % 2 = 1 AND NOT EXISTS (SELECT 1 FROM episodes WHERE id = record_key / 2))`;

export class Health {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Up to `limit` memories of an agent (null = all) behind `after`, ascending. */
  memoriesAfter(agentId: string | null, after: number, limit: number): RawMemory[] {
    return this.#db
      .sql("SELECT * FROM memories WHERE id > ? AND (? IS NULL OR agent_id = ?) ORDER BY id LIMIT ?")
      .all(after, agentId, agentId, limit)
      .map(toRawMemory);
  }

  episodesAfter(agentId: string | null, after: number, limit: number): RawEpisode[] {
    return this.#db
      .sql(
        "SELECT id, created_at, start_time, summary FROM episodes WHERE id > ? AND (? IS NULL OR agent_id = ?) ORDER BY id LIMIT ?",
      )
      .all(after, agentId, agentId, limit)
      .map((row) => ({
        id: Number(row["id"]),
        createdAt: String(row["created_at"]),
        startTime: row["start_time"] === null ? null : String(row["start_time"]),
        summary: String(row["summary"]),
      }));
  }

  /** Changes columns of an unlocked memory. */
  patchMemory(id: number, patch: MemoryPatch): void {
    const names = Object.keys(patch) as (keyof MemoryPatch)[];
    if (names.length === 0) return;
    const set = names.map((name) => `${PATCH_COLUMNS[name]} = ?`).join(", ");
    this.#db
      .sql(`UPDATE memories SET ${set} WHERE id = ? AND locked = 0`)
      .run(...names.map((name) => patch[name] ?? null), id);
  }

  setEpisodeStart(id: number, startTime: string | null): void {
    this.#db.sql("UPDATE episodes SET start_time = ? WHERE id = ?").run(startTime, id);
  }

  replaceSummary(id: number, summary: string): void {
    this.#db.sql("UPDATE episodes SET summary = ? WHERE id = ?").run(summary, id);
  }

  /** Vectors whose width is not their embedder's, or that hold a value that is no number; at most `limit` are read. */
  badVectors(agentId: string | null, limit: number): { width: number[]; values: number[] } {
    const ofAgent = `(? IS NULL OR coalesce(m.agent_id, e.agent_id) = ?)`;
    const joins = `JOIN embedders b ON b.code = v.embedder
      LEFT JOIN memories m ON v.record_key % 2 = 0 AND m.id = v.record_key / 2
      LEFT JOIN episodes e ON v.record_key % 2 = 1 AND e.id = v.record_key / 2`;
    const width = this.#db
      .sql(
        `SELECT DISTINCT v.record_key AS key FROM embeddings v ${joins}
         WHERE length(v.vector) NOT IN (0, b.dimension * 4) AND ${ofAgent}`,
      )
      .all(agentId, agentId);
    const values: number[] = [];
    for (let after = 0, read = 0; read < limit; ) {
      const rows = this.#db
        .sql(
          `SELECT v.id AS id, v.record_key AS key, v.vector AS vector FROM embeddings v ${joins}
           WHERE v.id > ? AND length(v.vector) = b.dimension * 4 AND ${ofAgent} ORDER BY v.id LIMIT 1000`,
        )
        .all(after, agentId, agentId);
      for (const row of rows)
        if (!isFiniteVector(row["vector"] as Uint8Array)) values.push(Number(row["key"]));
      if (rows.length === 0) break;
      read += rows.length;
      after = Number(rows[rows.length - 1]?.["id"]);
    }
    return { width: width.map((row) => Number(row["key"])), values: [...new Set(values)] };
  }

  /** How many of the agent's newest vectors do not have unit length, and how many were read. */
  offLength(agentId: string, tolerance: number, limit: number): { count: number; read: number } {
    const rows = this.#db
      .sql(
        `SELECT v.vector AS vector FROM embeddings v
           LEFT JOIN memories m ON v.record_key % 2 = 0 AND m.id = v.record_key / 2
           LEFT JOIN episodes e ON v.record_key % 2 = 1 AND e.id = v.record_key / 2
         WHERE coalesce(m.agent_id, e.agent_id) = ? AND length(v.vector) > 0 AND length(v.vector) % 4 = 0
         ORDER BY v.id DESC LIMIT ?`,
      )
      .all(agentId, limit);
    const off = rows.filter((row) => {
      const vector = new Float32Array(Uint8Array.from(row["vector"] as Uint8Array).buffer);
      return !(Math.abs(Math.hypot(...vector) - 1) <= tolerance);
    });
    return { count: off.length, read: rows.length };
  }

  /** Vectors by the embedder that made them. */
  vectorsByEmbedder(): { code: number; identity: string; records: number }[] {
    return this.#db
      .sql(
        `SELECT b.code AS code, b.identity AS identity, count(DISTINCT v.record_key) AS records
         FROM embedders b JOIN embeddings v ON v.embedder = b.code GROUP BY b.code ORDER BY b.code`,
      )
      .all()
      .map((row) => ({
        code: Number(row["code"]),
        identity: String(row["identity"]),
        records: Number(row["records"]),
      }));
  }

  /** Removes vectors of other embedders from records that have one of this. */
  removeOtherVectors(embedder: number): number {
    return this.#db
      .sql(
        `DELETE FROM embeddings WHERE embedder <> ? AND EXISTS
           (SELECT 1 FROM embeddings o WHERE o.record_key = embeddings.record_key AND o.embedder = ?)`,
      )
      .run(embedder, embedder).changes;
  }

  /** Rows of derived tables that belong to no record. */
  orphans(): number {
    const count = (table: string): number =>
      Number(this.#db.value(`SELECT count(*) FROM ${table} WHERE ${GONE}`));
    return count("embeddings") + count("uses");
  }

  removeOrphans(): number {
    const keys = this.#db.sql(`SELECT DISTINCT record_key AS key FROM embeddings WHERE ${GONE}`).all();
    const remove = (table: string): number =>
      this.#db.sql(`DELETE FROM ${table} WHERE ${GONE}`).run().changes;
    const removed = remove("embeddings") + remove("uses");
    for (const row of keys)
      this.#db.sql("INSERT INTO vector_changes (record_key) VALUES (?)").run(Number(row["key"]));
    return removed;
  }

  /** Buckets whose counted rows are not the rows they hold. */
  scopeDrift(): number {
    return Number(this.#db.value(`SELECT count(*) FROM scopes WHERE ${DRIFT}`));
  }

  recountScopes(): number {
    return this.#db
      .sql(`UPDATE scopes SET memories = ${HELD_MEMORIES}, episodes = ${HELD_EPISODES} WHERE ${DRIFT}`)
      .run().changes;
  }

  /** Whether another row of the memory's bucket has this content hash. */
  isHeld(id: number, contentHash: Uint8Array): boolean {
    return (
      this.#db.value(
        `SELECT 1 FROM memories m JOIN memories o ON o.agent_id = m.agent_id AND o.project_id = m.project_id AND o.channel = m.channel
         WHERE m.id = ? AND o.id <> m.id AND o.content_hash = ?`,
        id,
        contentHash,
      ) !== undefined
    );
  }

  /** Copies in a project or channel of a text that a wider bucket of the agent holds too. */
  narrowCopies(agentId: string | null): { id: number; locked: boolean }[] {
    return this.#db
      .sql(
        `SELECT m.id AS id, m.locked AS locked FROM memories m WHERE (m.project_id <> '' OR m.channel <> '') AND (? IS NULL OR m.agent_id = ?)
           AND EXISTS (SELECT 1 FROM memories w WHERE w.agent_id = m.agent_id AND w.content_hash = m.content_hash AND w.id <> m.id
             AND w.project_id IN ('', m.project_id) AND w.channel IN ('', m.channel)
             AND (w.project_id, w.channel) <> (m.project_id, m.channel))`,
      )
      .all(agentId, agentId)
      .map((row) => ({ id: Number(row["id"]), locked: Number(row["locked"]) === 1 }));
  }

  /** Names of projects by agent. */
  projects(agentId: string | null): { agentId: string; projectId: string; rows: number }[] {
    return this.#db
      .sql(
        `SELECT agent_id, project_id, sum(memories + episodes) AS rows FROM scopes
         WHERE (? IS NULL OR agent_id = ?) GROUP BY agent_id, project_id HAVING rows > 0 ORDER BY agent_id, project_id`,
      )
      .all(agentId, agentId)
      .map((row) => ({
        agentId: String(row["agent_id"]),
        projectId: String(row["project_id"]),
        rows: Number(row["rows"]),
      }));
  }

  channels(agentId: string | null): { channel: string; rows: number }[] {
    return this.#db
      .sql(
        "SELECT channel, sum(memories + episodes) AS rows FROM scopes WHERE (? IS NULL OR agent_id = ?) GROUP BY channel HAVING rows > 0 ORDER BY channel",
      )
      .all(agentId, agentId)
      .map((row) => ({ channel: String(row["channel"]), rows: Number(row["rows"]) }));
  }

  /** Agents with memories and no profile. */
  agentsWithoutProfile(agentId: string | null): number {
    return Number(
      this.#db.value(
        `SELECT count(*) FROM (SELECT agent_id FROM scopes WHERE (? IS NULL OR agent_id = ?) GROUP BY agent_id HAVING sum(memories) > 0)
         WHERE agent_id NOT IN (SELECT agent_id FROM profiles)`,
        agentId,
        agentId,
      ),
    );
  }

  /** SQLite's own check; empty when the file is whole. */
  quickCheck(): string[] {
    const rows = this.#db.sql("PRAGMA quick_check(20)").all();
    return rows.map((row) => String(Object.values(row)[0])).filter((line) => line !== "ok");
  }

  schemaVersion(): number {
    return Number(this.#db.value("PRAGMA user_version"));
  }

  /** Bytes of the database without its log. */
  bytes(): number {
    return Number(this.#db.value("PRAGMA page_count")) * Number(this.#db.value("PRAGMA page_size"));
  }

  sqliteVersion(): string {
    return String(this.#db.value("SELECT sqlite_version()"));
  }
}

const HELD_MEMORIES = "(SELECT count(*) FROM memories WHERE scope = code)";
const HELD_EPISODES = "(SELECT count(*) FROM episodes WHERE scope = code)";
const DRIFT = `memories <> ${HELD_MEMORIES} OR episodes <> ${HELD_EPISODES}`;

function isFiniteVector(bytes: Uint8Array): boolean {
  return new Float32Array(Uint8Array.from(bytes).buffer).every((value) => Number.isFinite(value));
}

function toRawMemory(row: SqlRow): RawMemory {
  return {
    id: Number(row["id"]),
    agentId: String(row["agent_id"]),
    projectId: String(row["project_id"]),
    channel: String(row["channel"]),
    createdAt: String(row["created_at"]),
    locked: Number(row["locked"]) === 1,
    timestamp: String(row["timestamp"]),
    instant: row["instant"] === null ? null : Number(row["instant"]),
    source: String(row["source"]),
    tags: String(row["tags"]),
    metadata: String(row["metadata"]),
    content: String(row["content"]),
    contentHash: row["content_hash"] as Uint8Array,
  };
}
