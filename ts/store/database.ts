// Opens the database file: who may read it, whose file it is, pragmas, migrations, transactions.

import { setTimeout as sleep } from "node:timers/promises";
import { describeError, isBusy, MemoryError } from "../errors.js";
import { makePrivateFile } from "../files.js";
import {
  isDamagedIndex,
  type SqlConnection,
  type SqlDriver,
  type SqlDriverName,
  type SqlRow,
  type SqlStatement,
  type SqlValue,
} from "./driver.js";
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from "./schema.js";
import { type WriteOptions, WriteQueue } from "./write-queue.js";

/** How long a step of long work holds the write lock, ms; one unit of work may take it a little further. */
const STEP_MS = 12;
/** A step that took long because its machine was busy is not waited for as long again. */
const MAX_PAUSE_MS = 100;
/** How long a single statement may wait, e.g. for another process that recovers the log after a crash, ms. */
const STATEMENT_WAIT_MS = 1000;

export interface StepOptions extends WriteOptions {
  /** asked between steps; true ends the work early */
  readonly isStopped?: () => boolean;
}

export interface DatabaseOptions {
  /** file path, or `:memory:` */
  readonly path: string;
  readonly driver: SqlDriver;
  /** `NORMAL`: an acknowledged write survives a killed process; `FULL`: a power cut too */
  readonly synchronous: "NORMAL" | "FULL";
  /** how long a write waits for its turn, and opening for another process, ms */
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
  readonly #queue: WriteQueue;
  #lookAtIndexes: () => void = () => {};
  /** until then work in steps leaves the lock to others, ms on the clock of durations */
  #freeUntil = 0;
  /** what runs now: nothing, or work in a transaction */
  #open: "nothing" | "reading" | "writing" = "nothing";

  private constructor(options: DatabaseOptions, connection: SqlConnection) {
    this.path = options.path;
    this.driverName = options.driver.name;
    this.readOnly = options.readOnly;
    this.#connection = connection;
    this.#queue = new WriteQueue(options.busyTimeoutMs);
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
      connection.exec(`PRAGMA busy_timeout = ${STATEMENT_WAIT_MS}`);
      return database;
    } catch (error) {
      connection?.close();
      // What the driver says of a file that it cannot open is what people need to know.
      const isUnopened = error instanceof MemoryError && error.code === "storage_unavailable";
      const cause = isUnopened ? (error.cause ?? error) : error;
      if (cause instanceof MemoryError) throw cause;
      throw new MemoryError("storage_unavailable", `cannot open the database: ${describeError(cause)}`, {
        cause,
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

  /**
   * Runs `work` in one write transaction when its turn has come, and resolves once it is committed. Waits for
   * other processes without holding up the event loop, 30 seconds unless told; then rejects with
   * `storage_busy`. `work` must be synchronous; nested calls of `transaction` join it.
   */
  async write<T>(work: () => T, options: WriteOptions = {}): Promise<T> {
    if (this.#open !== "nothing") return this.transaction(work);
    let result: { readonly value: T } | undefined;
    const tryWrite = (): boolean => {
      if (!this.#beginAtOnce()) return false;
      result = { value: this.#finish(work) };
      return true;
    };
    await this.#queue.run(tryWrite, options);
    return (result as { readonly value: T }).value;
  }

  /**
   * Work that may be long, in transactions of about `STEP_MS`: `step` does units until its time is up and says
   * whether more is left. Each step must leave the store whole, since the process may end after any of them.
   * Between two steps, of this work or of another, the lock is free for at least as long as a step, so that all
   * others get their turn.
   */
  async writeInSteps(
    step: (hasTime: () => boolean) => "more" | "done",
    options: StepOptions = {},
  ): Promise<void> {
    for (;;) {
      const pause = this.#freeUntil - performance.now();
      if (pause > 0) await sleep(pause);
      let tookMs = 0;
      const outcome = await this.write(
        () => {
          const startedAt = performance.now();
          const result = step(() => performance.now() - startedAt < STEP_MS);
          tookMs = performance.now() - startedAt;
          return result;
        },
        { background: true, ...options },
      );
      this.#freeUntil = performance.now() + Math.min(tookMs, MAX_PAUSE_MS) + 1;
      if (outcome === "done" || options.isStopped?.() === true) return;
    }
  }

  /** Runs `work`, which only reads, on one state of the database. */
  read<T>(work: () => T): T {
    if (this.#open !== "nothing") return work();
    this.#connection.exec("BEGIN");
    this.#open = "reading";
    try {
      return work();
    } finally {
      this.#open = "nothing";
      this.#rollback();
    }
  }

  /**
   * One write transaction now. It waits for another process only as long as a statement may and holds up the
   * event loop meanwhile: for work inside of `write`, which it joins, and while the database is opened.
   */
  transaction<T>(work: () => T): T {
    if (this.#open === "writing") return work();
    if (this.#open === "reading") throw new MemoryError("internal", "a write inside of a read");
    this.#begin();
    return this.#finish(work);
  }

  #begin(): void {
    // IMMEDIATE: a read that turns into a write later cannot wait for the other writer, it fails at once.
    this.#connection.exec("BEGIN IMMEDIATE");
  }

  /** False when another process holds the write lock at this moment. */
  #beginAtOnce(): boolean {
    this.sql("PRAGMA busy_timeout = 0").get();
    try {
      this.#begin();
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    } finally {
      this.sql(`PRAGMA busy_timeout = ${STATEMENT_WAIT_MS}`).get();
    }
  }

  /** Called when a commit meets a damaged full-text index; the work is then tried once more. */
  set onDamagedIndex(look: () => void) {
    this.#lookAtIndexes = look;
  }

  #finish<T>(work: () => T): T {
    try {
      return this.#attempt(work);
    } catch (error) {
      // FTS5 writes at commit, so that only then it may turn out that one of its tables is damaged.
      if (!isDamagedIndex(error)) throw error;
      this.#lookAtIndexes();
      this.#begin();
      return this.#attempt(work);
    }
  }

  #attempt<T>(work: () => T): T {
    this.#open = "writing";
    try {
      const result = work();
      this.#connection.exec("COMMIT");
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    } finally {
      this.#open = "nothing";
    }
  }

  #rollback(): void {
    try {
      this.#connection.exec("ROLLBACK");
    } catch {
      // SQLite has rolled back by itself (disk full, I/O error): the first error is the one to report.
    }
  }

  /** Resolves when no write waits for its turn any more; later ones are refused. */
  settle(): Promise<void> {
    return this.#queue.close();
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
    makePrivateFile(path);
  } catch (error) {
    throw new MemoryError(
      "storage_unavailable",
      `cannot write the database file ${path} (${describeError(error).split(",")[0]}): set CPERSONA_DB_PATH to a writable place`,
      { cause: error },
    );
  }
}
