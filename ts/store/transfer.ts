// Whole rows in and out, for moving a store: everything that a record has, in one read, page by page.

import { type RecordKind, recordKey } from "../domain/record.js";
import type { WriteScope } from "../domain/scope.js";
import type { MovedUse } from "./belongings.js";
import type { Database } from "./database.js";
import type { SqlRow } from "./driver.js";
import { RECORD_TABLES } from "./records.js";

export interface MovedProfile {
  readonly agentId: string;
  readonly userId: string;
  readonly content: string;
  readonly updatedAt: string;
}

export interface TransferCounts {
  readonly memories: number;
  readonly episodes: number;
  readonly profiles: number;
}

export class Transfer {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Rows of an agent, or of all agents for null. */
  counts(agentId: string | null): TransferCounts {
    const count = (table: string): number =>
      Number(
        this.#db.value(`SELECT count(*) FROM ${table} WHERE ? IS NULL OR agent_id = ?`, agentId, agentId),
      );
    return { memories: count("memories"), episodes: count("episodes"), profiles: count("profiles") };
  }

  /** Up to `limit` ids of an agent's records behind `after`, ascending. */
  idsAfter(kind: RecordKind, agentId: string | null, after: number, limit: number): number[] {
    return this.#db
      .sql(
        `SELECT id FROM ${RECORD_TABLES[kind]} WHERE id > ? AND (? IS NULL OR agent_id = ?) ORDER BY id LIMIT ?`,
      )
      .all(after, agentId, agentId, limit)
      .map((row) => Number(row["id"]));
  }

  /** Largest id that a record of this kind ever had here. */
  lastId(kind: RecordKind): number {
    return Number(this.#db.value("SELECT seq FROM sqlite_sequence WHERE name = ?", RECORD_TABLES[kind]) ?? 0);
  }

  /** All ids of an agent's records up to and including `last`, ascending. */
  idsUntil(kind: RecordKind, agentId: string, last: number): number[] {
    return this.#db
      .sql(`SELECT id FROM ${RECORD_TABLES[kind]} WHERE agent_id = ? AND id <= ?`)
      .all(agentId, last)
      .map((row) => Number(row["id"]))
      .sort((a, b) => a - b);
  }

  agentOf(kind: RecordKind, id: number): string | null {
    const agent = this.#db.value(`SELECT agent_id FROM ${RECORD_TABLES[kind]} WHERE id = ?`, id);
    return agent === undefined ? null : String(agent);
  }

  /** The agent's memory that holds the msg_id or the text of another agent's memory in the same place. */
  holderFor(id: number, agentId: string): number | null {
    const holder = this.#db.value(
      `SELECT coalesce(
         (SELECT h.id FROM memories h WHERE h.agent_id = ? AND h.project_id = m.project_id
            AND h.msg_id = m.msg_id AND h.msg_id <> ''),
         (SELECT h.id FROM memories h WHERE h.agent_id = ? AND h.project_id = m.project_id
            AND h.channel = m.channel AND h.content_hash = m.content_hash))
       FROM memories m WHERE m.id = ?`,
      agentId,
      agentId,
      id,
    );
    return holder === undefined || holder === null ? null : Number(holder);
  }

  /** Gives a record to another agent, in the same project and channel; false when a unique index forbids it. */
  setAgent(kind: RecordKind, id: number, agentId: string, scopeCode: number): boolean {
    return (
      this.#db
        .sql(`UPDATE OR IGNORE ${RECORD_TABLES[kind]} SET agent_id = ?, scope = ? WHERE id = ?`)
        .run(agentId, scopeCode, id).changes > 0
    );
  }

  profiles(agentId: string | null): MovedProfile[] {
    return this.#db
      .sql(
        "SELECT agent_id, user_id, content, updated_at FROM profiles WHERE ? IS NULL OR agent_id = ? ORDER BY agent_id, user_id",
      )
      .all(agentId, agentId)
      .map(toProfile);
  }

  profile(agentId: string, userId: string): MovedProfile | null {
    const row = this.#db
      .sql("SELECT agent_id, user_id, content, updated_at FROM profiles WHERE agent_id = ? AND user_id = ?")
      .get(agentId, userId);
    return row === undefined ? null : toProfile(row);
  }

  putProfile(profile: MovedProfile): void {
    this.#db
      .sql("INSERT OR REPLACE INTO profiles (agent_id, user_id, content, updated_at) VALUES (?, ?, ?, ?)")
      .run(profile.agentId, profile.userId, profile.content, profile.updatedAt);
  }

  removeProfile(agentId: string, userId: string): void {
    this.#db.sql("DELETE FROM profiles WHERE agent_id = ? AND user_id = ?").run(agentId, userId);
  }

  /** The id itself where it is free, else a new one above `above`. */
  freeId(kind: RecordKind, id: number, above: number): number {
    const table = RECORD_TABLES[kind];
    if (id >= 1 && this.#db.value(`SELECT 1 FROM ${table} WHERE id = ?`, id) === undefined) return id;
    const last = Number(this.#db.value("SELECT seq FROM sqlite_sequence WHERE name = ?", table) ?? 0);
    return Math.max(last, above) + 1;
  }

  putUse(kind: RecordKind, id: number, use: MovedUse): void {
    this.#db
      .sql(
        "INSERT OR REPLACE INTO uses (record_key, recall_count, weight, last_recalled_at) VALUES (?, ?, ?, ?)",
      )
      .run(recordKey(kind, id), use.recallCount, use.weight, use.lastRecalledAt);
  }

  /** Keeps the heavier of two weights, so that a second import changes nothing. */
  putCoUse(low: number, high: number, weight: number, moment: number): void {
    this.#db
      .sql(
        `INSERT INTO co_uses (low_key, high_key, weight, moment) VALUES (?, ?, ?, ?)
         ON CONFLICT (low_key, high_key) DO UPDATE SET weight = excluded.weight, moment = excluded.moment WHERE excluded.moment > moment`,
      )
      .run(Math.min(low, high), Math.max(low, high), weight, moment);
  }

  coUse(low: number, high: number): { weight: number; moment: number } | null {
    const row = this.#db
      .sql("SELECT weight, moment FROM co_uses WHERE low_key = ? AND high_key = ?")
      .get(Math.min(low, high), Math.max(low, high));
    return row === undefined ? null : { weight: Number(row["weight"]), moment: Number(row["moment"]) };
  }

  /** Puts a pair back as it was; null: there was none. */
  resetCoUse(low: number, high: number, before: { weight: number; moment: number } | null): void {
    const pair = [Math.min(low, high), Math.max(low, high)] as const;
    this.#db.sql("DELETE FROM co_uses WHERE low_key = ? AND high_key = ?").run(...pair);
    if (before !== null) this.putCoUse(...pair, before.weight, before.moment);
  }

  /** The memory that holds this msg_id in exactly this agent and project. */
  holderOfMsgId({ agentId, projectId }: WriteScope, msgId: string): number | null {
    const id = this.#db.value(
      "SELECT id FROM memories WHERE agent_id = ? AND project_id = ? AND msg_id = ? AND msg_id <> ''",
      agentId,
      projectId,
      msgId,
    );
    return id === undefined ? null : Number(id);
  }

  /** All episodes of an agent up to and including an id, oldest first. */
  summariesUntil(agentId: string, last: number): { id: number; bucket: string; summary: string }[] {
    return this.#db
      .sql("SELECT id, project_id, channel, summary FROM episodes WHERE agent_id = ? AND id <= ? ORDER BY id")
      .all(agentId, last)
      .map((row) => ({
        id: Number(row["id"]),
        bucket: JSON.stringify([row["project_id"], row["channel"]]),
        summary: String(row["summary"]),
      }));
  }

  /** Ids of the episodes of exactly this bucket with their summaries, oldest first. */
  summaries(scope: WriteScope): { id: number; summary: string }[] {
    return this.#db
      .sql(
        "SELECT id, summary FROM episodes WHERE agent_id = ? AND project_id = ? AND channel = ? ORDER BY id",
      )
      .all(scope.agentId, scope.projectId, scope.channel)
      .map((row) => ({ id: Number(row["id"]), summary: String(row["summary"]) }));
  }

  /** Starts one view of the data that later writes do not change, until `endSnapshot`. */
  beginSnapshot(): void {
    this.#db.exec("BEGIN");
    // A deferred transaction takes its view with the first read.
    this.#db.value("SELECT count(*) FROM scopes");
  }

  endSnapshot(): void {
    this.#db.exec("COMMIT");
  }
}

function toProfile(row: SqlRow): MovedProfile {
  return {
    agentId: String(row["agent_id"]),
    userId: String(row["user_id"]),
    content: String(row["content"]),
    updatedAt: String(row["updated_at"]),
  };
}
