// How files are named, made and opened: `~` is the home folder, what is ours is for its owner only, and what
// somebody names is read when it is a regular file, since a pipe or device would hold up whoever opens it.

import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { MemoryError, type MemoryErrorCode } from "./errors.js";

/** Modes of what is ours; Windows goes by the folder's access list instead. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/**
 * The path that somebody means: `~` and `~/x` lie in the home folder. Another account's (`~name`) is refused with
 * `code`, so that no folder of that name comes to be.
 */
export function userPath(
  field: string,
  path: string,
  code: MemoryErrorCode & ("invalid_argument" | "invalid_setting") = "invalid_argument",
): string {
  if (!path.startsWith("~")) return path;
  if (path.length === 1 || path[1] === "/" || (process.platform === "win32" && path[1] === "\\"))
    return homedir() + path.slice(1);
  throw new MemoryError(
    code,
    `${field} must not start with ~ and a name: spell the folder out, or write ./~ for a file of that name`,
    { field },
  );
}

/** Makes a folder with the folders above it; those that are there stay as they are. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER });
}

/** Makes an empty file where there is none, with its folder. Throws for what is no regular file. */
export function makePrivateFile(path: string): void {
  makePrivateFolder(dirname(path));
  closeSync(openRegular(path, constants.O_RDWR | constants.O_CREAT));
}

/** Puts a file in its place in one step, whole or not at all. */
export function writePrivateFile(path: string, content: string | Uint8Array, mode = PRIVATE_FILE): void {
  const draft = `${path}.${process.pid}`;
  try {
    // What a killed process left may have another mode.
    rmSync(draft, { force: true });
    writeFileSync(draft, content, { mode, flag: "wx" });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/**
 * A descriptor of a regular file. Throws for pipes, devices, sockets and folders, and never waits for one: the check
 * is made on what was opened, so nothing can take its place in between.
 */
export function openRegular(path: string, flags: number = constants.O_RDONLY): number {
  const file = openSync(path, flags | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0), PRIVATE_FILE);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw Object.assign(new Error("not a regular file"), { code: "ENOTREG" });
}

/** The text of a small regular file. Throws for other things, and for more than `maxBytes`. */
export function readRegularFile(path: string, maxBytes: number): string {
  const file = openRegular(path);
  try {
    if (fstatSync(file).size > maxBytes) throw Object.assign(new Error("too large"), { code: "EFBIG" });
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}
