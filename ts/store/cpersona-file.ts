// The only reader of CPersona's own database files (schemas 13 to 21): read-only, one view, as records of the
// export format. Columns that an older schema lacks are left out of the record.

import { constants, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isStorageFault, MemoryError } from "../errors.js";
import type { SqlConnection, SqlDriver, SqlRow } from "./driver.js";
import { APPLICATION_ID } from "./schema.js";

const OLDEST_SCHEMA = 13;
const NEWEST_SCHEMA = 21;
const PAGE_ROWS = 500;

/** Rows of one table as a record type, in the order of an export. */
interface RecordTable {
  readonly type: string;
  readonly table: string;
  /** column the rows are paged by, unique */
  readonly order: string;
}

const RECORD_TABLES: readonly RecordTable[] = [
  { type: "memory", table: "memories", order: "id" },
  { type: "episode", table: "episodes", order: "id" },
  { type: "profile", table: "profiles", order: "id" },
  { type: "entity", table: "entities", order: "id" },
  { type: "mention", table: "entity_mentions", order: "rowid" },
  { type: "relation", table: "relations", order: "id" },
  { type: "folder", table: "folders", order: "id" },
  { type: "folder_member", table: "folder_members", order: "rowid" },
];

/** Columns that hold JSON, with the key that carries a text which is none. */
const JSON_COLUMNS: Readonly<Record<string, string>> = { source: "source_text", metadata: "metadata_text" };

export class CPersonaFile {
  readonly schema: number;
  readonly #connection: SqlConnection;
  readonly #tables: ReadonlySet<string>;
  /** folder of a copy, to be removed */
  readonly #copy: string | null;

  private constructor(connection: SqlConnection, copy: string | null) {
    this.#connection = connection;
    this.#copy = copy;
    connection.exec("PRAGMA busy_timeout = 5000");
    this.#tables = new Set(
      connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .all()
        .map((row) => String(row["name"])),
    );
    this.schema = this.#readSchema();
  }

  /** Throws `schema_mismatch` when it is no database of CPersona or of an unknown schema. */
  static open(path: string, driver: SqlDriver): CPersonaFile {
    // Without a log nobody has the file open, and reading it in place would leave a log behind.
    if (!existsSync(`${path}-wal`)) return CPersonaFile.#openCopy(path, driver);
    try {
      return CPersonaFile.#open(path, driver, null);
    } catch (error) {
      // In a folder that cannot be written SQLite cannot read a file with a log.
      if (error instanceof MemoryError && error.code === "damaged_file")
        return CPersonaFile.#openCopy(path, driver);
      throw error;
    }
  }

  static #openCopy(path: string, driver: SqlDriver): CPersonaFile {
    const folder = mkdtempSync(join(tmpdir(), "cpersona-import-"));
    try {
      const copy = join(folder, "cpersona.db");
      for (const suffix of ["", "-wal"])
        if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix, constants.COPYFILE_FICLONE);
      return CPersonaFile.#open(copy, driver, folder);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  static #open(path: string, driver: SqlDriver, copy: string | null): CPersonaFile {
    let connection: SqlConnection | undefined;
    try {
      connection = driver.connect(path, { readOnly: true });
      const file = new CPersonaFile(connection, copy);
      connection.exec("BEGIN");
      return file;
    } catch (error) {
      connection?.close();
      if (error instanceof MemoryError && !isStorageFault(error)) throw error;
      throw new MemoryError(
        "damaged_file",
        "import aborted, nothing was imported: the database cannot be read",
        {
          cause: error,
        },
      );
    }
  }

  #readSchema(): number {
    const application = Number(this.#value("PRAGMA application_id"));
    if (application === APPLICATION_ID) {
      throw new MemoryError(
        "schema_mismatch",
        "this is a database of cpersona-native: export it there, or point CPERSONA_DB_PATH at it",
      );
    }
    if (!this.#tables.has("memories") || !this.#tables.has("schema_version"))
      throw new MemoryError("schema_mismatch", "this is no database of CPersona");
    const schema = Number(this.#value("SELECT max(version) FROM schema_version"));
    if (schema >= OLDEST_SCHEMA && schema <= NEWEST_SCHEMA) return schema;
    throw new MemoryError(
      "schema_mismatch",
      `the database has CPersona's schema ${schema}, schemas ${OLDEST_SCHEMA} to ${NEWEST_SCHEMA} can be imported`,
    );
  }

  #value(sql: string): unknown {
    return Object.values(this.#connection.prepare(sql).get() ?? {})[0];
  }

  /** Every record with its type, as `_type`; a vector is `embedding`, bytes. Throws `damaged_file`. */
  *records(): Generator<Record<string, unknown>> {
    try {
      yield* this.#records();
    } catch (error) {
      if (error instanceof MemoryError && !isStorageFault(error)) throw error;
      throw new MemoryError("damaged_file", "import aborted, nothing was imported: the database is damaged", {
        cause: error,
      });
    }
  }

  *#records(): Generator<Record<string, unknown>> {
    for (const { type, table, order } of RECORD_TABLES) {
      if (!this.#tables.has(table)) continue;
      const page = this.#connection.prepare(
        `SELECT ${order} AS cursor_, * FROM ${table} WHERE ${order} > ? ORDER BY ${order} LIMIT ${PAGE_ROWS}`,
      );
      for (let after = 0; ; ) {
        const rows = page.all(after);
        for (const row of rows) yield toRecord(type, row);
        if (rows.length < PAGE_ROWS) break;
        after = Number(rows[rows.length - 1]?.["cursor_"]);
      }
    }
  }

  close(): void {
    this.#connection.close();
    if (this.#copy !== null) rmSync(this.#copy, { recursive: true, force: true });
  }
}

function toRecord(type: string, row: SqlRow): Record<string, unknown> {
  const record: Record<string, unknown> = { _type: type };
  for (const [column, value] of Object.entries(row)) {
    const textKey = JSON_COLUMNS[column];
    if (column === "cursor_") continue;
    if (textKey === undefined) record[column === "entity_id" ? "entity" : column] = value;
    else putJson(record, column, textKey, String(value));
  }
  return record;
}

function putJson(record: Record<string, unknown>, column: string, textKey: string, value: string): void {
  try {
    record[column] = JSON.parse(value);
  } catch {
    record[textKey] = value;
  }
}
