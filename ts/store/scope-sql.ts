// Scope -> WHERE clause, once for every query.

import type { ReadScope, SourceFilter } from "../domain/scope.js";
import type { SqlValue } from "./driver.js";

export interface SqlCondition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The condition under which rows of `table` (memories, episodes or scopes) are visible. */
export function scopeCondition(scope: ReadScope, table: string): SqlCondition {
  const parts: string[] = [];
  const values: SqlValue[] = [];
  if (scope.agentId !== null) {
    parts.push(`${table}.agent_id = ?`);
    values.push(scope.agentId);
  }
  if (scope.projectId !== null) {
    parts.push(scope.projectId === "" ? `${table}.project_id = ''` : `${table}.project_id IN (?, '')`);
    if (scope.projectId !== "") values.push(scope.projectId);
  }
  if (scope.channel !== null && scope.channel !== "") {
    parts.push(`${table}.channel IN (?, '')`);
    values.push(scope.channel);
  }
  const { excludeTags = [] } = scope;
  if (table === "memories" && excludeTags.length > 0) {
    // Most rows have no tags: they must not pay for the JSON.
    parts.push(
      `(${table}.tags = '[]' OR NOT EXISTS (SELECT 1 FROM json_each(${table}.tags) tag, json_each(?) word WHERE instr(tag.value, word.value) > 0))`,
    );
    values.push(JSON.stringify(excludeTags));
  }
  return { sql: parts.length === 0 ? "TRUE" : parts.join(" AND "), values };
}

/** The condition on `source.id` of a memory; unreadable sources match nothing. */
export function sourceCondition(filter: SourceFilter | null, table: string): SqlCondition {
  if (filter === null) return { sql: "TRUE", values: [] };
  const id = `CASE WHEN json_valid(${table}.source) THEN CAST(${table}.source ->> '$.id' AS TEXT) END`;
  if (filter.exact) return { sql: `${id} = ?`, values: [filter.id] };
  return { sql: `substr(${id}, 1, length(?)) = ?`, values: [filter.id, filter.id] };
}

export function both(a: SqlCondition, b: SqlCondition): SqlCondition {
  return { sql: `${a.sql} AND ${b.sql}`, values: [...a.values, ...b.values] };
}
