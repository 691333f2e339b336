// CPERSONA_PROJECT_ID=auto: the project is named after the folder that holds the repository.

import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** The name of the folder with the nearest `.git` at or above `folder`, else of the folder itself; null for none. */
export function projectOfFolder(folder: string): string | null {
  if (folder === "") return null;
  let at = resolve(folder);
  for (let parent = dirname(at); ; parent = dirname(at)) {
    if (existsSync(join(at, ".git"))) return basename(at) || null;
    if (parent === at) return basename(resolve(folder)) || null;
    at = parent;
  }
}

/** The folder that a program works in; "" when it was removed under its feet. */
export function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "";
  }
}
