// Row <-> Episode, and every query on the episodes table but the lexical ones.

import type { ListCursor } from "../domain/cursor.js";
import type { Episode } from "../domain/memory.js";
import type { ReadScope } from "../domain/scope.js";
import type { Database } from "./database.js";
import type { SqlRow } from "./driver.js";
import { fromRecordsById } from "./records.js";
import { scopeCondition } from "./scope-sql.js";

export type NewEpisode = Omit<Episode, "id">;

const COLUMNS =
  "id, agent_id, project_id, channel, created_at, resolved, start_time, end_time, keywords, summary";

export class Episodes {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Writes the row, under a new id where none is given. */
  insert(episode: NewEpisode, scopeCode: number, id: number | null = null): number {
    return this.#db
      .sql(
        `INSERT INTO episodes (id, scope, agent_id, project_id, channel, created_at, resolved, start_time, end_time, keywords, summary)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        id,
        scopeCode,
        episode.agentId,
        episode.projectId,
        episode.channel,
        episode.createdAt,
        episode.resolved ? 1 : 0,
        episode.startTime,
        episode.endTime,
        episode.keywords,
        episode.summary,
      ).lastId;
  }

  /** The rows of these ids that the scope may see, in no stated order. */
  get(ids: readonly number[], scope: ReadScope): Episode[] {
    if (ids.length === 0) return [];
    const where = scopeCondition(scope, "episodes");
    return this.#db
      .sql(`SELECT ${COLUMNS} ${fromRecordsById("ep")} AND ${where.sql}`)
      .all(JSON.stringify(ids), ...where.values)
      .map(toEpisode);
  }

  /** Which of these ids the scope may see, in no stated order. */
  visibleIds(ids: readonly number[], scope: ReadScope): number[] {
    const where = scopeCondition(scope, "episodes");
    return this.#db
      .sql(`SELECT id ${fromRecordsById("ep")} AND ${where.sql}`)
      .all(JSON.stringify(ids), ...where.values)
      .map((row) => Number(row["id"]));
  }

  /** Newest first by storage time; of the same second the larger id is newer. */
  newest(scope: ReadScope, limit: number, offset = 0): Episode[] {
    const where = scopeCondition(scope, "episodes");
    return this.#db
      .sql(
        `SELECT ${COLUMNS} FROM episodes WHERE ${where.sql} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
      )
      .all(...where.values, limit, offset)
      .map(toEpisode);
  }

  /** The same as `newest`, behind a row of an earlier page; null starts at the newest. */
  page(scope: ReadScope, after: ListCursor | null, limit: number): Episode[] {
    if (after === null) return this.newest(scope, limit);
    const where = scopeCondition(scope, "episodes");
    return this.#db
      .sql(
        `SELECT ${COLUMNS} FROM episodes WHERE (created_at, id) < (?, ?) AND ${where.sql} ORDER BY created_at DESC, id DESC LIMIT ?`,
      )
      .all(after.createdAt, after.id, ...where.values, limit)
      .map(toEpisode);
  }

  /** Storage time and id of the row at a position counted from the newest, or null past the end. */
  positionFromNewest(scope: ReadScope, position: number): { createdAt: string; id: number } | null {
    const where = scopeCondition(scope, "episodes");
    const row = this.#db
      .sql(
        `SELECT created_at, id FROM episodes WHERE ${where.sql} ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?`,
      )
      .get(...where.values, position);
    return row === undefined ? null : { createdAt: String(row["created_at"]), id: Number(row["id"]) };
  }

  /** Storage time of the scope's newest episode, or null. */
  newestCreatedAt(scope: ReadScope): string | null {
    return this.positionFromNewest(scope, 0)?.createdAt ?? null;
  }

  delete(id: number): void {
    this.#db.sql("DELETE FROM episodes WHERE id = ?").run(id);
  }
}

function toEpisode(row: SqlRow): Episode {
  return {
    id: Number(row["id"]),
    agentId: String(row["agent_id"]),
    projectId: String(row["project_id"]),
    channel: String(row["channel"]),
    summary: String(row["summary"]),
    keywords: String(row["keywords"]),
    startTime: row["start_time"] === null ? null : String(row["start_time"]),
    endTime: row["end_time"] === null ? null : String(row["end_time"]),
    resolved: Number(row["resolved"]) === 1,
    createdAt: String(row["created_at"]),
  };
}
