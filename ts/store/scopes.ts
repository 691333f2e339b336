// Scope codes: small integers for buckets, so that the vector index can filter without strings.

import type { ReadScope, WriteScope } from "../domain/scope.js";
import type { Database } from "./database.js";
import { scopeCondition } from "./scope-sql.js";

/** What a read scope covers. */
export interface ScopePool {
  /** codes of the visible buckets that hold rows */
  readonly codes: Uint32Array;
  readonly memories: number;
  readonly episodes: number;
}

export class Scopes {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The code of a bucket, made when the bucket is new. Call inside the write transaction. */
  code(scope: WriteScope): number {
    this.#db
      .sql("INSERT INTO scopes (agent_id, project_id, channel) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
      .run(scope.agentId, scope.projectId, scope.channel);
    return Number(
      this.#db.value(
        "SELECT code FROM scopes WHERE agent_id = ? AND project_id = ? AND channel = ?",
        scope.agentId,
        scope.projectId,
        scope.channel,
      ),
    );
  }

  pool(scope: ReadScope): ScopePool {
    const where = scopeCondition(scope, "scopes");
    const rows = this.#db
      .sql(`SELECT code, memories, episodes FROM scopes WHERE ${where.sql} AND memories + episodes > 0`)
      .all(...where.values);
    return {
      codes: Uint32Array.from(rows, (row) => Number(row["code"])),
      memories: rows.reduce((sum, row) => sum + Number(row["memories"]), 0),
      episodes: rows.reduce((sum, row) => sum + Number(row["episodes"]), 0),
    };
  }

  /** Agents that hold memories with their number, most first. */
  memoryCounts(): { agentId: string; rows: number }[] {
    return this.#db
      .sql(
        "SELECT agent_id, sum(memories) AS rows FROM scopes GROUP BY agent_id HAVING sum(memories) > 0 ORDER BY rows DESC, agent_id",
      )
      .all()
      .map((row) => ({ agentId: String(row["agent_id"]), rows: Number(row["rows"]) }));
  }

  /** Agents that hold rows, most rows first. */
  agents(limit: number): string[] {
    return this.#db
      .sql(
        "SELECT agent_id FROM scopes GROUP BY agent_id HAVING sum(memories + episodes) > 0 ORDER BY sum(memories + episodes) DESC, agent_id LIMIT ?",
      )
      .all(limit)
      .map((row) => String(row["agent_id"]));
  }
}
