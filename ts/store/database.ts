// Opens the database file: who may read it, whose file it is, pragmas, migrations, transactions.

import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { describeError, MemoryError } from "../errors.js";
import type { SqlConnection, SqlDriver, SqlDriverName, SqlRow, SqlStatement, SqlValue } from "./driver.js";
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from "./schema.js";

export interface DatabaseOptions {
  /** file path, or `:memory:` */
  readonly path: string;
  readonly driver: SqlDriver;
  /** `NORMAL`: an acknowledged write survives a killed process; `FULL`: a power cut too */
  readonly synchronous: "NORMAL" | "FULL";
  /** how long a statement waits for another process, ms */
  readonly busyTimeoutMs: number;
  readonly readOnly: boolean;
}

/** An open database. Statements are prepared once and kept. */
export class Database {
  readonly path: string;
  readonly driverName: SqlDriverName;
  readonly readOnly: boolean;
  readonly #connection: SqlConnection;
  readonly #statements = new Map<string, SqlStatement>();
  #depth = 0;

  private constructor(options: DatabaseOptions, connection: SqlConnection) {
    this.path = options.path;
    this.driverName = options.driver.name;
    this.readOnly = options.readOnly;
    this.#connection = connection;
  }

  /**
   * Opens and migrates. Throws `schema_mismatch` for somebody else's file or a newer schema, and
   * `storage_unavailable` when the file cannot be opened.
   */
  static open(options: DatabaseOptions): Database {
    if (options.path !== ":memory:" && !options.readOnly) createPrivately(options.path);
    let connection: SqlConnection | undefined;
    try {
      connection = options.driver.connect(options.path, { readOnly: options.readOnly });
      connection.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs}`);
      const database = new Database(options, connection);
      const owner = database.#owner();
      if (!options.readOnly) {
        connection.exec("PRAGMA journal_mode = WAL");
        // A checkpoint costs an fsync: at 16 MB of log it comes every few hundred writes instead of every fifty.
        connection.exec("PRAGMA wal_autocheckpoint = 4000");
        connection.exec(`PRAGMA synchronous = ${options.synchronous}`);
      }
      if (owner === "older") database.#migrate();
      connection.exec("PRAGMA foreign_keys = ON");
      connection.exec("PRAGMA cache_size = -32768");
      connection.exec("PRAGMA mmap_size = 1073741824");
      return database;
    } catch (error) {
      connection?.close();
      if (error instanceof MemoryError) throw error;
      throw new MemoryError("storage_unavailable", `cannot open the database: ${describeError(error)}`, {
        cause: error,
      });
    }
  }

  /** The prepared statement of this SQL text. */
  sql(text: string): SqlStatement {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      statement = this.#connection.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  /** Runs SQL that is used once, such as maintenance commands. */
  exec(text: string): void {
    this.#connection.exec(text);
  }

  /** First column of the first row, or undefined. */
  value(text: string, ...values: SqlValue[]): SqlValue | undefined {
    const row: SqlRow | undefined = this.sql(text).get(...values);
    return row === undefined ? undefined : Object.values(row)[0];
  }

  /** Runs `work` in one write transaction; nested calls join the outer one. */
  transaction<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    // IMMEDIATE: a read that turns into a write later cannot wait for the other writer, it fails at once.
    this.#connection.exec("BEGIN IMMEDIATE");
    this.#depth++;
    try {
      const result = work();
      this.#connection.exec("COMMIT");
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    } finally {
      this.#depth--;
    }
  }

  #rollback(): void {
    try {
      this.#connection.exec("ROLLBACK");
    } catch {
      // SQLite has rolled back by itself (disk full, I/O error): the first error is the one to report.
    }
  }

  close(): void {
    this.#statements.clear();
    this.#connection.close();
  }

  #migrate(): void {
    if (this.readOnly)
      throw new MemoryError(
        "schema_mismatch",
        "the database must be opened for writing once before it can be read",
      );
    this.transaction(() => {
      const version = Number(this.value("PRAGMA user_version"));
      if (version >= SCHEMA_VERSION) return;
      for (const step of MIGRATIONS.slice(version)) this.#connection.exec(step);
      this.#connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
      this.#connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    });
    this.#statements.clear();
  }

  #owner(): "current" | "older" {
    const application = Number(this.value("PRAGMA application_id"));
    const version = Number(this.value("PRAGMA user_version"));
    if (application === APPLICATION_ID) {
      if (version > SCHEMA_VERSION) {
        throw new MemoryError(
          "schema_mismatch",
          `the database has schema ${version}, this version of cpersona-native knows schemas up to ${SCHEMA_VERSION}: upgrade cpersona-native`,
        );
      }
      return version === SCHEMA_VERSION ? "current" : "older";
    }
    const tables = this.sql("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map((row) => row["name"]);
    if (tables.length === 0 && application === 0) return "older";
    if (tables.includes("memories") && tables.includes("schema_version")) {
      throw new MemoryError(
        "schema_mismatch",
        "this is a database of CPersona (Python): point CPERSONA_DB_PATH at a new file and bring the memories over with an export of theirs",
      );
    }
    throw new MemoryError(
      "schema_mismatch",
      "this is a database of another program: point CPERSONA_DB_PATH at another file",
    );
  }
}

/** Creates folder and file for the owner only, so that SQLite's side files inherit the mode. */
function createPrivately(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw new MemoryError(
      "storage_unavailable",
      `cannot write the database file ${path} (${describeError(error).split(",")[0]}): set CPERSONA_DB_PATH to a writable place`,
      { cause: error },
    );
  }
}
