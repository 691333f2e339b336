// The one small interface over SQLite drivers. better-sqlite3 where its binary loads, else Node's own
// node:sqlite; both are synchronous.

import { createRequire } from "node:module";
import { describeError, MemoryError } from "../errors.js";

export type SqlValue = string | number | bigint | null | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

export interface SqlStatement {
  run(...values: SqlValue[]): { changes: number; lastId: number };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
  iterate(...values: SqlValue[]): IterableIterator<SqlRow>;
}

export interface SqlConnection {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}

export interface SqlDriver {
  readonly name: SqlDriverName;
  connect(path: string, options: { readonly readOnly: boolean }): SqlConnection;
}

export type SqlDriverName = "better-sqlite3" | "node:sqlite";

/** What a driver's statement offers; both drivers agree on this much. */
interface DriverStatement {
  run(...values: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
  iterate(...values: unknown[]): IterableIterator<unknown>;
}

function wrapStatement(statement: DriverStatement): SqlStatement {
  return {
    run: (...values) => {
      const done = statement.run(...values);
      return { changes: Number(done.changes), lastId: Number(done.lastInsertRowid) };
    },
    get: (...values) => statement.get(...values) as SqlRow | undefined,
    all: (...values) => statement.all(...values) as SqlRow[],
    iterate: (...values) => statement.iterate(...values) as IterableIterator<SqlRow>,
  };
}

interface DriverConnection {
  exec(sql: string): unknown;
  prepare(sql: string): unknown;
  close(): unknown;
}

function wrapConnection(connection: DriverConnection): SqlConnection {
  return {
    exec: (sql) => void connection.exec(sql),
    prepare: (sql) => wrapStatement(connection.prepare(sql) as DriverStatement),
    close: () => void connection.close(),
  };
}

const require = createRequire(import.meta.url);

function loadBetterSqlite3(): SqlDriver {
  const Database = require("better-sqlite3") as new (path: string, options: object) => DriverConnection;
  // The package loads without its binary; only opening a database shows whether it is there.
  const nativeBinding = findBinary();
  if (nativeBinding === null) new Database(":memory:", {}).close();
  const options = nativeBinding === null ? { timeout: 0 } : { timeout: 0, nativeBinding };
  return {
    name: "better-sqlite3",
    connect: (path, { readOnly }) => wrapConnection(new Database(path, { ...options, readonly: readOnly })),
  };
}

/** The package's binary where it normally lies: its own search over a dozen places takes longer than loading it. */
function findBinary(): object | null {
  try {
    return require("better-sqlite3/build/Release/better_sqlite3.node") as object;
  } catch {
    return null;
  }
}

function loadNodeSqlite(): SqlDriver {
  const sqlite = withoutExperimentalWarning(() => require("node:sqlite") as typeof import("node:sqlite"));
  return {
    name: "node:sqlite",
    connect: (path, { readOnly }) => wrapConnection(new sqlite.DatabaseSync(path, { readOnly })),
  };
}

/** Node prints a warning on the first use of node:sqlite; people would take it for a fault of ours. */
function withoutExperimentalWarning<T>(load: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).includes("SQLite")) return;
    (emitWarning as (...args: unknown[]) => void).call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** SQLITE_CORRUPT_VTAB: a full-text index, not the database, contradicts itself. */
const DAMAGED_INDEX = 267;

export function isDamagedIndex(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return code === "SQLITE_CORRUPT_VTAB" || errcode === DAMAGED_INDEX;
}

const LOADERS: Record<SqlDriverName, () => SqlDriver> = {
  "better-sqlite3": loadBetterSqlite3,
  "node:sqlite": loadNodeSqlite,
};

/**
 * Loads the wanted driver, or with `auto` the first that works.
 * Throws `driver_missing` with one line that names both and what to run.
 */
export function loadDriver(wanted: SqlDriverName | "auto"): SqlDriver {
  const names: SqlDriverName[] = wanted === "auto" ? ["better-sqlite3", "node:sqlite"] : [wanted];
  const reasons: string[] = [];
  for (const name of names) {
    try {
      return LOADERS[name]();
    } catch (error) {
      reasons.push(`${name}: ${describeError(error).split("\n")[0]}`);
    }
  }
  throw new MemoryError(
    "driver_missing",
    `no SQLite driver works on Node ${process.versions.node} (${process.platform} ${process.arch}): ${reasons.join("; ")}. ` +
      "Run on Node 22.13 or newer, which brings node:sqlite, or run `npm install better-sqlite3@12` with install scripts allowed",
  );
}
