// Who may read the database's files.

import { chmodSync, existsSync, statSync } from "node:fs";

const SUFFIXES = ["", "-wal", "-shm"];
const OTHERS = 0o077;

/** Files beside and including the database that others than the owner may open. Windows has no such bits. */
export function openFiles(databasePath: string): string[] {
  if (databasePath === ":memory:" || process.platform === "win32") return [];
  return SUFFIXES.map((suffix) => databasePath + suffix).filter(
    (path) => existsSync(path) && (statSync(path).mode & OTHERS) !== 0,
  );
}

export function closeFiles(paths: readonly string[]): number {
  let closed = 0;
  for (const path of paths) {
    try {
      chmodSync(path, 0o600);
      closed++;
    } catch {
      // Somebody else's file: only its owner may change it, and the finding stays.
    }
  }
  return closed;
}
