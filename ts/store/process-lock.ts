// A lock between processes that the operating system takes away from one that ends, however it ends: an
// exclusive transaction on a file of its own.

import { isBusy } from "../errors.js";
import { makePrivateFile } from "../files.js";
import { loadDriver, type SqlDriverName } from "./driver.js";

export interface ProcessLock {
  release(): void;
}

/** Null while another process, or another part of this one, has it. The file at `path` stays behind. */
export function takeProcessLock(path: string, driver: SqlDriverName | "auto"): ProcessLock | null {
  makePrivateFile(path);
  const connection = loadDriver(driver).connect(path, { readOnly: false });
  try {
    connection.exec("PRAGMA busy_timeout = 0");
    connection.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    connection.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return { release: () => connection.close() };
}
