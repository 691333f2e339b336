// The one small interface over SQLite drivers. better-sqlite3 where its binary loads, else Node's own
// node:sqlite; both are synchronous.

import { createRequire } from "node:module";
import { describeError, MemoryError, type StorageFault, storageFault } from "../errors.js";

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
      const done = atBorder(() => statement.run(...values));
      return { changes: Number(done.changes), lastId: Number(done.lastInsertRowid) };
    },
    get: (...values) => atBorder(() => statement.get(...values)) as SqlRow | undefined,
    all: (...values) => atBorder(() => statement.all(...values)) as SqlRow[],
    iterate: (...values) => rowsAtBorder(() => statement.iterate(...values) as IterableIterator<SqlRow>),
  };
}

function* rowsAtBorder(open: () => IterableIterator<SqlRow>): IterableIterator<SqlRow> {
  try {
    yield* open();
  } catch (error) {
    throw faultOf(error) ?? error;
  }
}

interface DriverConnection {
  exec(sql: string): unknown;
  prepare(sql: string): unknown;
  close(): unknown;
}

function wrapConnection(connection: DriverConnection): SqlConnection {
  return {
    exec: (sql) => void atBorder(() => connection.exec(sql)),
    prepare: (sql) => wrapStatement(atBorder(() => connection.prepare(sql)) as DriverStatement),
    close: () => void atBorder(() => connection.close()),
  };
}

/** SQLite's primary result codes that are faults of the storage, by both drivers' ways of telling them. */
const FAULTS: readonly { readonly name: string; readonly code: number; readonly fault: StorageFault }[] = [
  { name: "SQLITE_BUSY", code: 5, fault: "storage_busy" },
  { name: "SQLITE_LOCKED", code: 6, fault: "storage_busy" },
  { name: "SQLITE_READONLY", code: 8, fault: "storage_read_only" },
  { name: "SQLITE_IOERR", code: 10, fault: "storage_io" },
  { name: "SQLITE_CORRUPT", code: 11, fault: "storage_damaged" },
  { name: "SQLITE_FULL", code: 13, fault: "storage_full" },
  { name: "SQLITE_CANTOPEN", code: 14, fault: "storage_unavailable" },
  { name: "SQLITE_NOTADB", code: 26, fault: "storage_unavailable" },
];

function atBorder<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw faultOf(error) ?? error;
  }
}

/** The driver's error as one of ours, or null when it is no fault of the storage. */
function faultOf(error: unknown): MemoryError | null {
  if (!(error instanceof Error) || error instanceof MemoryError) return null;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  const known = FAULTS.find(
    (entry) =>
      (typeof code === "string" && (code === entry.name || code.startsWith(`${entry.name}_`))) ||
      // The low byte is the primary code; the rest says which call failed.
      (typeof errcode === "number" && (errcode & 0xff) === entry.code),
  );
  return known === undefined ? null : storageFault(known.fault, error);
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
  if (!(error instanceof MemoryError) || !(error.cause instanceof Error)) return false;
  const { code, errcode } = error.cause as { code?: unknown; errcode?: unknown };
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
