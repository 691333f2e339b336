// Is every table, index and trigger there, as the migrations make it? What is derived can be made again.

import type { Database } from "./database.js";
import { loadDriver } from "./driver.js";
import { MIGRATIONS } from "./schema.js";

export interface SchemaFault {
  readonly name: string;
  readonly type: "table" | "index" | "trigger";
  /** how it is made */
  readonly sql: string;
  readonly fault: "missing" | "different";
}

interface SchemaObject {
  readonly type: SchemaFault["type"];
  readonly sql: string;
}

/** Faults of the open database against a new one; other people's additional objects are none. */
export function schemaFaults(database: Database): SchemaFault[] {
  const found = objectsOf((sql) => database.sql(sql).all());
  const faults: SchemaFault[] = [];
  for (const [name, { type, sql }] of expectedObjects(database)) {
    const there = found.get(name);
    if (there === undefined) faults.push({ name, type, sql, fault: "missing" });
    else if (squeeze(there.sql) !== squeeze(sql)) faults.push({ name, type, sql, fault: "different" });
  }
  return faults;
}

/** Makes an index or a trigger again. */
export function repairSchemaFault(database: Database, { name, type, sql }: SchemaFault): void {
  database.exec(`DROP ${type.toUpperCase()} IF EXISTS "${name}"`);
  database.exec(sql);
}

function expectedObjects(database: Database): Map<string, SchemaObject> {
  const fresh = loadDriver(database.driverName).connect(":memory:", { readOnly: false });
  try {
    for (const step of MIGRATIONS) fresh.exec(step);
    return objectsOf((sql) => fresh.prepare(sql).all());
  } finally {
    fresh.close();
  }
}

function objectsOf(all: (sql: string) => Record<string, unknown>[]): Map<string, SchemaObject> {
  const rows = all(
    "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
  );
  return new Map(
    rows.map((row) => [
      String(row["name"]),
      { type: String(row["type"]) as SchemaFault["type"], sql: String(row["sql"]) },
    ]),
  );
}

function squeeze(sql: string): string {
  return sql.replace(/\s+/g, " ").trim();
}
