// The model that `model use` made the default of this user. The environment wins over it.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../domain/json.js";
import { makePrivateFolder, readRegularFile, writePrivateFile } from "../files.js";

const FILE = "chosen.json";
const MAX_FILE_BYTES = 4096;

/** Names of models are names of folders: a letter or digit, then 63 more, dots, dashes and underscores. */
export function isModelName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** Null when none was chosen. A damaged file counts as no choice. */
export function readChosenModel(modelFolder: string): string | null {
  try {
    const { model } = parseJson(readRegularFile(join(modelFolder, FILE), MAX_FILE_BYTES)) as {
      model?: unknown;
    };
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
  makePrivateFolder(modelFolder);
  writePrivateFile(path, `${JSON.stringify({ model })}\n`);
}
