// Who may open what the store keeps in files: the database with its side files, the vector index, the hook's log.

import { chmodSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../../files.js";

const SIDE_FILES = ["", "-wal", "-shm", "-journal"];
const OTHERS = 0o077;

/** Files and folders of ours that others than the owner may open. Windows has no such bits. */
export function openFiles(databasePath: string, logFile: string): string[] {
  if (process.platform === "win32") return [];
  const paths = logFile === "" ? [] : [logFile];
  if (databasePath !== ":memory:")
    paths.push(...SIDE_FILES.map((suffix) => databasePath + suffix), `${databasePath}.vectors`);
  return paths.flatMap((path) => {
    try {
      // A link that somebody chose is followed; below the folder of the index there are none of ours.
      return [...openBelow(realpathSync(path))];
    } catch {
      return [];
    }
  });
}

function* openBelow(path: string): Generator<string> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !(found.isFile() || found.isDirectory())) return;
  if ((found.mode & OTHERS) !== 0) yield path;
  if (found.isDirectory()) for (const name of readdirSync(path)) yield* openBelow(join(path, name));
}

export function closeFiles(paths: readonly string[]): number {
  let closed = 0;
  for (const path of paths) {
    try {
      chmodSync(path, lstatSync(path).isDirectory() ? PRIVATE_FOLDER : PRIVATE_FILE);
      closed++;
    } catch {
      // Gone meanwhile, or somebody else's: only its owner may change it, and the finding stays.
    }
  }
  return closed;
}
