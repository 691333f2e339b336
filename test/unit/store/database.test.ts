import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Database } from "../../../ts/store/database.js";
import { loadDriver } from "../../../ts/store/driver.js";
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from "../../../ts/store/schema.js";
import { aMemory } from "../../support/builders.js";
import { DRIVER } from "../../support/settings.js";
import { openStore, sql } from "../../support/store.js";
import { tempFolder } from "../../support/temp.js";

const newPath = (): string => join(tempFolder(), "memory.db");

function open(path: string, readOnly = false): Database {
  const driver = loadDriver(DRIVER);
  return Database.open({ path, driver, synchronous: "NORMAL", busyTimeoutMs: 200, readOnly });
}

describe("a new database", () => {
  it("carries our mark, its schema version and WAL", () => {
    const path = newPath();
    open(path).close();
    expect(sql(path, "PRAGMA application_id")).toEqual([{ application_id: APPLICATION_ID }]);
    expect(sql(path, "PRAGMA user_version")).toEqual([{ user_version: SCHEMA_VERSION }]);
    expect(sql(path, "PRAGMA journal_mode")).toEqual([{ journal_mode: "wal" }]);
    expect(SCHEMA_VERSION).toBe(MIGRATIONS.length);
  });

  it.skipIf(process.platform === "win32")(
    "belongs to its owner alone, with its side files and folder",
    () => {
      const path = join(tempFolder(), "a", "b", "memory.db");
      const database = open(path);
      for (const suffix of ["", "-wal", "-shm"]) expect(statSync(path + suffix).mode & 0o777).toBe(0o600);
      expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
      database.close();
    },
  );

  it("gets a name of its own that stays", () => {
    const path = newPath();
    const first = openStore(path);
    const id = first.databaseId();
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    first.close();
    expect(openStore(path).databaseId()).toBe(id);
    expect(openStore().databaseId()).not.toBe(id);
  });

  it("works in memory too", () => {
    const store = openStore(":memory:");
    expect(store.addMemory(aMemory("umbrella"), null)).toBe(1);
  });
});

describe("opening", () => {
  it("refuses a newer schema and names both versions", () => {
    const path = newPath();
    open(path).close();
    sql(path, `PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    const before = readFileSync(path);
    expect(() => open(path)).toThrow(
      expect.objectContaining({
        code: "schema_mismatch",
        message: expect.stringMatching(
          new RegExp(`schema ${SCHEMA_VERSION + 1},.*up to ${SCHEMA_VERSION}: upgrade cpersona-native`),
        ),
      }),
    );
    expect(readFileSync(path)).toEqual(before);
  });

  it("refuses a database of CPersona with a hint, and leaves it as it is", () => {
    const path = newPath();
    sql(
      path,
      "CREATE TABLE schema_version (version INTEGER)",
      "CREATE TABLE memories (id INTEGER PRIMARY KEY, agent_id TEXT, content TEXT)",
      "INSERT INTO memories VALUES (1, 'a', 'kept')",
    );
    const before = readFileSync(path);
    expect(() => open(path)).toThrow(
      expect.objectContaining({
        code: "schema_mismatch",
        message: expect.stringMatching(/CPersona.*CPERSONA_DB_PATH/),
      }),
    );
    expect(readFileSync(path)).toEqual(before);
  });

  it.each([
    ["with tables", "CREATE TABLE bookmarks (id INTEGER)"],
    ["with another mark", "PRAGMA application_id = 99"],
    ["with a table memories of its own", "CREATE TABLE memories (id INTEGER)"],
  ])("refuses another program's database %s", (_, statement) => {
    const path = newPath();
    sql(path, statement, "PRAGMA user_version");
    expect(() => open(path)).toThrow(
      expect.objectContaining({ code: "schema_mismatch", message: expect.stringMatching(/another program/) }),
    );
  });

  it.each([
    ["no database at all", "just text\n".repeat(1000)],
    ["a header and then nothing", "SQLite format 3\0\x10\0\x01\x01\0"],
  ])("refuses a file that holds %s", (_, content) => {
    const path = newPath();
    writeFileSync(path, content);
    expect(() => open(path)).toThrow(expect.objectContaining({ code: "storage_unavailable" }));
    expect(readFileSync(path, "latin1")).toBe(content);
  });

  it("names the path and the setting when the file cannot be made", () => {
    const file = join(tempFolder(), "file");
    writeFileSync(file, "");
    const path = join(file, "memory.db");
    expect(() => open(path)).toThrow(
      expect.objectContaining({
        code: "storage_unavailable",
        message: expect.stringMatching(/CPERSONA_DB_PATH/),
      }),
    );
    expect(() => open(path)).toThrow(path);
  });

  it("takes a file that was made empty", () => {
    const path = newPath();
    writeFileSync(path, "");
    open(path).close();
    expect(sql(path, "PRAGMA user_version")).toEqual([{ user_version: SCHEMA_VERSION }]);
  });

  it("reads only when it may only read", () => {
    const path = newPath();
    const store = openStore(path);
    store.addMemory(aMemory("umbrella"), null);
    const reader = open(path, true);
    expect(reader.value("SELECT count(*) FROM memories")).toBe(1);
    expect(() => reader.exec("DELETE FROM memories")).toThrow(/can only be read/);
    reader.close();
    expect(() => open(newPath(), true)).toThrow(expect.objectContaining({ code: "storage_unavailable" }));
  });
});

describe("migrations", () => {
  /** A database as the version that had only the first `version` steps left it. */
  function atVersion(version: number): string {
    const path = newPath();
    sql(
      path,
      ...MIGRATIONS.slice(0, version),
      `PRAGMA application_id = ${APPLICATION_ID}`,
      `PRAGMA user_version = ${version}`,
    );
    return path;
  }

  const tables = (path: string) =>
    sql(path, "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name");

  it.each(MIGRATIONS.map((_, i) => i))("take schema %i to the newest, the same as a new one", (version) => {
    const path = atVersion(version);
    open(path).close();
    const fresh = newPath();
    open(fresh).close();
    expect(tables(path).map((row) => row["name"])).toEqual(tables(fresh).map((row) => row["name"]));
    expect(sql(path, "PRAGMA user_version")).toEqual([{ user_version: SCHEMA_VERSION }]);
  });

  it("leave nothing half done when a step fails, and are tried again", () => {
    const path = atVersion(SCHEMA_VERSION);
    // The mark says "before the first step", so the steps meet tables that are there already.
    sql(path, "PRAGMA user_version = 0");
    const before = tables(path);
    expect(() => open(path)).toThrow(expect.objectContaining({ code: "storage_unavailable" }));
    expect(tables(path)).toEqual(before);
    expect(sql(path, "PRAGMA user_version")).toEqual([{ user_version: 0 }]);
    sql(path, `PRAGMA user_version = ${SCHEMA_VERSION}`);
    open(path).close();
  });
});

describe("transactions", () => {
  it("undo everything when the work throws, nested ones included", () => {
    const store = openStore();
    const { database } = store;
    expect(() =>
      database.transaction(() => {
        store.addMemory(aMemory("one"), null);
        database.transaction(() => store.addMemory(aMemory("two"), null));
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(database.value("SELECT count(*) FROM memories")).toBe(0);
    expect(database.value("SELECT count(*) FROM memory_terms_docsize")).toBe(0);
    expect(store.addMemory(aMemory("three", { agentId: "b" }), null)).toBeGreaterThan(0);
  });

  it("wait for another writer, and say so when that takes too long", () => {
    const path = newPath();
    const one = open(path);
    const other = open(path);
    one.exec("BEGIN IMMEDIATE");
    expect(() => other.transaction(() => 1)).toThrow(/another process is writing/);
    one.exec("COMMIT");
    expect(other.transaction(() => 1)).toBe(1);
    one.close();
    other.close();
  });
});

describe("drivers", () => {
  it("are named in one line when none works", () => {
    const wanted = DRIVER === "better-sqlite3" ? "node:sqlite" : "better-sqlite3";
    let message: string | null = null;
    try {
      loadDriver(wanted);
    } catch (error) {
      expect(error).toMatchObject({ code: "driver_missing" });
      message = (error as Error).message;
    }
    if (message === null) return;
    expect(message).toContain(wanted);
    expect(message).toContain(process.versions.node);
    expect(message).toMatch(/22\.13.*npm install better-sqlite3/);
    expect(message).not.toContain("\n");
  });

  it("are at least as new as the repaired WAL and the FTS5 features that we use", () => {
    const version = String(openStore(":memory:").database.value("SELECT sqlite_version()"));
    const [major = 0, minor = 0] = version.split(".").map(Number);
    expect(major * 1000 + minor).toBeGreaterThanOrEqual(3050);
  });

  it("keep integers, texts, blobs and null as they are", () => {
    const { database } = openStore(":memory:");
    const bytes = Uint8Array.of(0, 255, 128);
    const row = database.sql("SELECT ? AS i, ? AS t, ? AS b, ? AS n").get(2 ** 52, "🎌 ''", bytes, null);
    expect({ ...row, b: Array.from(row?.["b"] as Uint8Array) }).toEqual({
      i: 2 ** 52,
      t: "🎌 ''",
      b: [0, 255, 128],
      n: null,
    });
  });
});
