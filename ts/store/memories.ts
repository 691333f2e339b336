// Row <-> Memory, and every query on the memories table but the lexical ones.

import { createHash } from "node:crypto";
import type { ListCursor } from "../domain/cursor.js";
import { parseJson } from "../domain/json.js";
import type { Memory } from "../domain/memory.js";
import type { ReadScope, SourceFilter, WriteScope } from "../domain/scope.js";
import type { Source } from "../domain/source.js";
import { parseInstant } from "../domain/time.js";
import type { Database } from "./database.js";
import type { SqlRow } from "./driver.js";
import { type RecordStep, stepThrough } from "./record-steps.js";
import { fromRecordsById } from "./records.js";
import { both, scopeCondition, sourceCondition } from "./scope-sql.js";

/** A memory before it has an id. */
export type NewMemory = Omit<Memory, "id" | "locked" | "kind" | "tags"> &
  Partial<Pick<Memory, "locked" | "kind" | "tags">>;

const COLUMNS =
  "id, agent_id, project_id, channel, created_at, msg_id, locked, kind, tags, timestamp, source, content, metadata";

export class Memories {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Writes the row, under a new id where none is given. Returns null when the unique indexes hold the same text
   * or msg_id already.
   */
  insert(memory: NewMemory, scopeCode: number, id: number | null = null): number | null {
    const done = this.#db
      .sql(
        `INSERT INTO memories (id, scope, agent_id, project_id, channel, created_at, msg_id, locked, kind, tags, timestamp, instant, source, content_hash, content, metadata)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      )
      .run(
        id,
        scopeCode,
        memory.agentId,
        memory.projectId,
        memory.channel,
        memory.createdAt,
        memory.msgId,
        memory.locked === true ? 1 : 0,
        memory.kind ?? "note",
        JSON.stringify(memory.tags ?? []),
        memory.timestamp,
        parseInstant(memory.timestamp),
        JSON.stringify(memory.source),
        contentHash(memory.content),
        memory.content,
        JSON.stringify(memory.metadata),
      );
    return done.changes === 0 ? null : done.lastId;
  }

  /** The row that holds this msg_id for the agent, in the project or the global pool; any channel. */
  findByMsgId(scope: WriteScope, msgId: string): number | null {
    return this.#firstId(
      "SELECT id FROM memories WHERE agent_id = ? AND project_id IN (?, '') AND msg_id = ? AND msg_id <> '' ORDER BY project_id = '', id LIMIT 1",
      [scope.agentId, scope.projectId, msgId],
    );
  }

  /** The row that holds this exact text for the agent, in the bucket or a wider one. */
  findByContent(scope: WriteScope, content: string): number | null {
    return this.#firstId(
      "SELECT id FROM memories WHERE agent_id = ? AND project_id IN (?, '') AND channel IN (?, '') AND content_hash = ? ORDER BY project_id = '', channel = '', id LIMIT 1",
      [scope.agentId, scope.projectId, scope.channel, contentHash(content)],
    );
  }

  /** The row that holds this exact text in exactly this bucket. */
  findHolder(scope: WriteScope, content: string): number | null {
    return this.#firstId(
      "SELECT id FROM memories WHERE agent_id = ? AND project_id = ? AND channel = ? AND content_hash = ?",
      [scope.agentId, scope.projectId, scope.channel, contentHash(content)],
    );
  }

  replaceContent(id: number, content: string): void {
    this.#db
      .sql("UPDATE memories SET content = ?, content_hash = ? WHERE id = ?")
      .run(content, contentHash(content), id);
  }

  setLocked(id: number, locked: boolean): void {
    this.#db.sql("UPDATE memories SET locked = ? WHERE id = ?").run(locked ? 1 : 0, id);
  }

  #firstId(sql: string, values: (string | Uint8Array)[]): number | null {
    const id = this.#db.value(sql, ...values);
    return id === undefined ? null : Number(id);
  }

  /** The rows of these ids that the scope may see, in no stated order. */
  get(ids: readonly number[], scope: ReadScope, source: SourceFilter | null = null): Memory[] {
    if (ids.length === 0) return [];
    const where = both(scopeCondition(scope, "memories"), sourceCondition(source, "memories"));
    return this.#db
      .sql(`SELECT ${COLUMNS} ${fromRecordsById("mem")} AND ${where.sql}`)
      .all(JSON.stringify(ids), ...where.values)
      .map(toMemory);
  }

  /** Which of these ids the scope may see, in no stated order. */
  visibleIds(ids: readonly number[], scope: ReadScope, source: SourceFilter | null): number[] {
    const where = both(scopeCondition(scope, "memories"), sourceCondition(source, "memories"));
    return this.#db
      .sql(`SELECT id ${fromRecordsById("mem")} AND ${where.sql}`)
      .all(JSON.stringify(ids), ...where.values)
      .map((row) => Number(row["id"]));
  }

  /** Newest first by storage time; of the same second the larger id is newer. */
  newest(scope: ReadScope, source: SourceFilter | null, limit: number, offset = 0): Memory[] {
    const where = both(scopeCondition(scope, "memories"), sourceCondition(source, "memories"));
    return this.#db
      .sql(
        `SELECT ${COLUMNS} FROM memories WHERE ${where.sql} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
      )
      .all(...where.values, limit, offset)
      .map(toMemory);
  }

  /** Ids of `count` of the newest `among` memories, evenly spaced, newest first. */
  spreadIds(scope: ReadScope, count: number, among: number): number[] {
    const where = scopeCondition(scope, "memories");
    return this.#db
      .sql(
        `SELECT id FROM (SELECT id, row_number() OVER () AS place FROM
           (SELECT id FROM memories WHERE ${where.sql} ORDER BY created_at DESC, id DESC LIMIT ?))
         WHERE (place - 1) % ? = 0 LIMIT ?`,
      )
      .all(...where.values, among, Math.max(1, Math.floor(among / count)), count)
      .map((row) => Number(row["id"]));
  }

  /** The same as `newest`, behind a row of an earlier page; null starts at the newest. */
  page(scope: ReadScope, after: ListCursor | null, limit: number): Memory[] {
    if (after === null) return this.newest(scope, null, limit);
    const where = scopeCondition(scope, "memories");
    return this.#db
      .sql(
        `SELECT ${COLUMNS} FROM memories WHERE (created_at, id) < (?, ?) AND ${where.sql} ORDER BY created_at DESC, id DESC LIMIT ?`,
      )
      .all(after.createdAt, after.id, ...where.values, limit)
      .map(toMemory);
  }

  /** The agent's values and intentions that the scope may see, oldest first. */
  personas(scope: ReadScope, limit: number): Memory[] {
    const where = scopeCondition(scope, "memories");
    return this.#db
      .sql(
        `SELECT ${COLUMNS} FROM memories WHERE kind IN ('value', 'intention') AND ${where.sql} ORDER BY id LIMIT ?`,
      )
      .all(...where.values, limit)
      .map(toMemory);
  }

  /** Ids of the memories that the scope's tags exclude, ascending. */
  idsExcludedByTags(scope: ReadScope): number[] {
    const { excludeTags = [] } = scope;
    if (excludeTags.length === 0) return [];
    const own = scope.agentId === null ? "" : "AND agent_id = ?";
    const values = scope.agentId === null ? [] : [scope.agentId];
    return this.#db
      .sql(
        `SELECT id FROM memories INDEXED BY memories_tagged WHERE tags <> '[]' ${own}
           AND EXISTS (SELECT 1 FROM json_each(tags) tag, json_each(?) word WHERE instr(tag.value, word.value) > 0)
         ORDER BY id`,
      )
      .all(...values, JSON.stringify(excludeTags))
      .map((row) => Number(row["id"]));
  }

  /** Ids of the memories in scope among the next below `before` (null: the newest), newest first. */
  idsBelow(scope: ReadScope, before: number | null): RecordStep {
    const where = scopeCondition(scope, "memories");
    const query = this.#db.sql(
      `SELECT id FROM memories NOT INDEXED WHERE id >= ? AND id < ? AND ${where.sql} ORDER BY id DESC`,
    );
    return stepThrough(this.#db, { kind: "mem", before, limit: Number.POSITIVE_INFINITY }, (low, high) =>
      query.all(low, high, ...where.values).map((row) => Number(row["id"])),
    );
  }

  /** Ids of the newest memories of a source, ascending. */
  idsBySource(scope: ReadScope, source: SourceFilter, limit: number): number[] {
    const where = both(scopeCondition(scope, "memories"), sourceCondition(source, "memories"));
    return this.#db
      .sql(`SELECT id FROM memories WHERE ${where.sql} ORDER BY created_at DESC, id DESC LIMIT ?`)
      .all(...where.values, limit)
      .map((row) => Number(row["id"]))
      .sort((a, b) => a - b);
  }

  /** Storage time and id of the row at a position counted from the newest, or null past the end. */
  positionFromNewest(scope: ReadScope, position: number): { createdAt: string; id: number } | null {
    const where = scopeCondition(scope, "memories");
    const row = this.#db
      .sql(
        `SELECT created_at, id FROM memories WHERE ${where.sql} ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?`,
      )
      .get(...where.values, position);
    return row === undefined ? null : { createdAt: String(row["created_at"]), id: Number(row["id"]) };
  }

  /**
   * For each of these ids the rows said right before and right after it in the same bucket, at most `gapMs`
   * apart. Rows of the very same moment are none (a date without a time says nothing of order), nor are rows
   * without a readable timestamp.
   */
  neighbours(ids: readonly number[], gapMs: number): Map<number, number[]> {
    const rows = this.#db
      .sql(
        `SELECT c.id AS id,
           (SELECT p.id FROM memories p WHERE p.scope = c.scope AND p.instant IS NOT NULL
              AND p.instant < c.instant AND p.instant >= c.instant - g.gap
            ORDER BY p.instant DESC, p.id DESC LIMIT 1) AS before,
           (SELECT n.id FROM memories n WHERE n.scope = c.scope AND n.instant IS NOT NULL
              AND n.instant > c.instant AND n.instant <= c.instant + g.gap
            ORDER BY n.instant, n.id LIMIT 1) AS after
         FROM memories c, (SELECT ? AS gap) g WHERE c.id IN (SELECT value FROM json_each(?)) AND c.instant IS NOT NULL`,
      )
      .all(gapMs, JSON.stringify(ids));
    return new Map(
      rows.map((row) => [
        Number(row["id"]),
        [row["before"], row["after"]].filter((id) => id !== null).map(Number),
      ]),
    );
  }

  /** Oldest and newest readable moment of the scope's memories, ms since the epoch. */
  span(scope: ReadScope): { oldest: number; newest: number } | null {
    const where = scopeCondition(scope, "scopes");
    const row = this.#db
      .sql(
        `SELECT min((SELECT instant FROM memories WHERE scope = code AND instant IS NOT NULL ORDER BY instant LIMIT 1)) AS oldest,
                max((SELECT instant FROM memories WHERE scope = code AND instant IS NOT NULL ORDER BY instant DESC LIMIT 1)) AS newest
         FROM scopes WHERE ${where.sql}`,
      )
      .get(...where.values);
    if (row === undefined || row["oldest"] === null) return null;
    return { oldest: Number(row["oldest"]), newest: Number(row["newest"]) };
  }

  delete(id: number): void {
    this.#db.sql("DELETE FROM memories WHERE id = ?").run(id);
  }
}

/** SHA-256 of the UTF-8 text. */
export function contentHash(content: string): Uint8Array {
  return createHash("sha256").update(content, "utf8").digest();
}

function toMemory(row: SqlRow): Memory {
  return {
    id: Number(row["id"]),
    agentId: String(row["agent_id"]),
    projectId: String(row["project_id"]),
    channel: String(row["channel"]),
    msgId: String(row["msg_id"]),
    content: String(row["content"]),
    source: readJson(row["source"]) as Source,
    timestamp: String(row["timestamp"]),
    metadata: readJson(row["metadata"]) as Memory["metadata"],
    locked: row["locked"] === 1 || row["locked"] === 1n,
    kind: String(row["kind"]) as Memory["kind"],
    tags: toTags(row["tags"]),
    createdAt: String(row["created_at"]),
  };
}

function toTags(value: unknown): string[] {
  const tags = readJson(value);
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
}

/** A column that another program damaged must not make the row unreadable. */
function readJson(value: unknown): unknown {
  try {
    return parseJson(String(value));
  } catch {
    return {};
  }
}
