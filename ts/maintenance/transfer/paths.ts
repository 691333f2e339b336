// Where exports may be written and imports read. Confined to a folder when an operator names one; never
// through `..`, and never over a file that is no export.

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { parseJson } from "../../domain/json.js";
import { describeError, invalidArgument, MemoryError } from "../../errors.js";
import { PRIVATE_FILE, PRIVATE_FOLDER, userPath } from "../../files.js";

/** The absolute path that somebody at a terminal means, who may write where they like. */
export function freePath(field: string, given: string): string {
  return resolve(namedPath(field, given));
}

function namedPath(field: string, given: string): string {
  if (given.trim() === "" || given.includes("\0")) throw invalidArgument(field, "must name a file");
  return userPath(field, given);
}

/** The absolute path that a caller means. `folder` is the confinement, null for none. Throws `invalid_argument`. */
export async function checkedPath(field: string, given: string, folder: string | null): Promise<string> {
  const path = namedPath(field, given);
  if (path.split(/[\\/]/).includes("..")) throw rejected(field);
  if (folder === null) return resolve(path);
  const root = await realpath(folder).catch(() => resolve(folder));
  const wanted = isAbsolute(path) ? resolve(path) : join(root, path);
  const real = await realOf(wanted);
  const inside = relative(root, real);
  if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw rejected(field);
  return real;
}

function rejected(field: string): MemoryError {
  return invalidArgument(field, "rejected (path traversal or outside export dir)");
}

/** The path without links, as far as it exists. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realOf(parent), basename(path));
  }
}

/** Throws unless the path is free or holds an export that may be replaced. Returns that export's agent. */
export async function checkReplaceable(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  if (!found.isFile()) throw invalidArgument("output_path", "is not a regular file; nothing was written");
  if (found.size === 0) return null;
  const header = await firstLine(path);
  if (header === null || !String(header["version"]).startsWith("cpersona-export/"))
    throw invalidArgument("output_path", "exists and is not an export; nothing was written");
  return String(header["agent_id"] ?? "");
}

async function firstLine(path: string): Promise<Record<string, unknown> | null> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
    const line = buffer.subarray(0, bytesRead).toString("utf8").split("\n")[0] ?? "";
    const header: unknown = parseJson(line);
    return typeof header === "object" && header !== null ? (header as Record<string, unknown>) : null;
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

/** Writes a file for its owner only, and puts it in its place when `write` has finished. */
export async function writeAtomically(
  path: string,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  let file: FileHandle | undefined;
  try {
    await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
    file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, PRIVATE_FILE);
    await write(file);
    await file.sync();
    await file.close();
    file = undefined;
    await rename(temporary, path);
  } catch (error) {
    await file?.close().catch(() => {});
    await rm(temporary, { force: true }).catch(() => {});
    if (error instanceof MemoryError) throw error;
    throw new MemoryError("storage_unavailable", `the export could not be written (${reasonOf(error)})`, {
      cause: error,
    });
  }
}

/** The error's code: its message names paths. */
function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return code ?? describeError(error).split(",")[0] ?? "unknown";
}
