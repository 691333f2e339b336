// What memories and episodes have in common: a table each, and a text.

import type { RecordKind } from "../domain/record.js";
import type { Database } from "./database.js";

export const RECORD_TABLES: Readonly<Record<RecordKind, string>> = { mem: "memories", ep: "episodes" };

/**
 * The rows of a list of ids, so that any number of them makes one statement text. SQLite cannot know how long the list
 * is and would rather look through all rows of an agent, so no index but that of the ids is allowed.
 */
export function fromRecordsById(kind: RecordKind): string {
  return `FROM ${RECORD_TABLES[kind]} NOT INDEXED WHERE id IN (SELECT value FROM json_each(?))`;
}

/** A record's text under its agent. */
export interface RecordText {
  readonly key: number;
  readonly agentId: string;
  readonly text: string;
}

/** The texts of these records: keys that are gone are absent. */
export function recordTexts(db: Database, keys: readonly number[]): RecordText[] {
  const json = JSON.stringify(keys);
  return db
    .sql(
      `SELECT id * 2 AS key, agent_id, content AS text FROM memories
         WHERE id IN (SELECT value / 2 FROM json_each(?) WHERE value % 2 = 0)
       UNION ALL
       SELECT id * 2 + 1, agent_id, summary FROM episodes
         WHERE id IN (SELECT value / 2 FROM json_each(?) WHERE value % 2 = 1)`,
    )
    .all(json, json)
    .map((row) => ({ key: Number(row["key"]), agentId: String(row["agent_id"]), text: String(row["text"]) }));
}
