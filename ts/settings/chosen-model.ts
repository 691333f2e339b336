// The model that `model use` made the default of this user. The environment wins over it.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = "chosen.json";

/** Names of models are names of folders: a letter or digit, then 63 more, dots, dashes and underscores. */
export function isModelName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** Null when none was chosen. A damaged file counts as no choice. */
export function readChosenModel(modelFolder: string): string | null {
  try {
    const { model } = JSON.parse(readFileSync(join(modelFolder, FILE), "utf8")) as { model?: unknown };
    return typeof model === "string" && isModelName(model) ? model : null;
  } catch {
    return null;
  }
}

/** Null takes the choice back. */
export function writeChosenModel(modelFolder: string, model: string | null): void {
  const path = join(modelFolder, FILE);
  if (model === null) {
    rmSync(path, { force: true });
    return;
  }
  mkdirSync(modelFolder, { recursive: true });
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify({ model })}\n`);
  renameSync(fresh, path);
}
