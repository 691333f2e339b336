// Settings that every test memory starts from: the driver and the native mode under test, nothing of the
// developer's own environment.

import type { SqlDriverName } from "../../ts/store/driver.js";

export type Settings = Readonly<Record<string, string>>;

/** The driver that this run is about; vitest.config.ts sets it. */
export const DRIVER = (process.env["CPERSONA_TEST_DRIVER"] ?? "better-sqlite3") as SqlDriverName;

const NATIVE = process.env["CPERSONA_NATIVE"];

export function testSettings(databasePath: string, more: Settings = {}): Settings {
  return {
    CPERSONA_DB_PATH: databasePath,
    CPERSONA_SQLITE_DRIVER: DRIVER,
    CPERSONA_EMBEDDING_MODE: "none",
    ...(NATIVE === undefined ? {} : { CPERSONA_NATIVE: NATIVE }),
    ...more,
  };
}
