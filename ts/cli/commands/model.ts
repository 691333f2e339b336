// `cpersona-native model list | pull | use`: models for mode `onnx`.

import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { readModelSettings } from "../../config.js";
import { invalidArgument } from "../../errors.js";
import { CATALOGUE } from "../../models/catalogue.js";
import { isModel, pullModel } from "../../models/pull.js";
import { packageRoot } from "../../package-root.js";
import { isModelName, readChosenModel, writeChosenModel } from "../../settings/chosen-model.js";
import { takeProcessLock } from "../../store/process-lock.js";
import { type Bar, startBar } from "../bar.js";

const INSTALL =
  "mode onnx also needs the runtime, once: npm install onnxruntime-node (beside cpersona-native)";
const MODE = ["CPERSONA_EMBEDDING_MODE", "EMBEDDING_MODE"];

export function modelList(): void {
  const { folder } = readModelSettings();
  const chosen = readChosenModel(folder);
  const here = modelsIn(folder);
  const known = CATALOGUE.map(({ name, bytes, languages, licence }) => {
    return row(name, `${Math.round(bytes / 1e6)} MB`, languages, licence, stateOf(name, here, chosen));
  });
  const own = here
    .filter((name) => !CATALOGUE.some((model) => model.name === name))
    .map((name) => row(name, "", "", "", stateOf(name, here, chosen)));
  say(row("name", "about", "languages", "licence", ""), ...known, ...own, `folder: ${folder}`);
}

export async function modelPull(name: string, options: { from?: string; again?: boolean }): Promise<void> {
  const { folder, mirror } = readModelSettings();
  let open: { file: string; bar: Bar } | undefined;
  try {
    const outcome = await pullModel(
      { name, from: options.from ?? null, again: options.again ?? false },
      {
        folder,
        mirror,
        lock: (path) => takeProcessLock(path, "auto"),
        progress: (file, done, total) => {
          if (open?.file !== file) {
            open?.bar.end();
            open = { file, bar: startBar(file, "MB") };
          }
          open.bar.progress(Math.floor(done / 1e6), Math.ceil(total / 1e6));
        },
      },
    );
    open?.bar.end();
    say(
      outcome === "present"
        ? `${name} is here already (--again fetches it anew)`
        : `${name} is in ${join(folder, name)}`,
      `use it: cpersona-native model use ${name}`,
      ...missingRuntime(),
    );
  } finally {
    open?.bar.end();
  }
}

export function modelUse(name: string): void {
  const { folder } = readModelSettings();
  if (name === "static") {
    writeChosenModel(folder, null);
    say("the embedder inside the package is the default again", ...overruled());
    return;
  }
  if (!isModelName(name) || !isModel(join(folder, name)))
    throw invalidArgument("name", "must be a model that is here, see `cpersona-native model list`");
  writeChosenModel(folder, name);
  say(
    `${name} is the default now, from the next start on; the same as settings:`,
    "  CPERSONA_EMBEDDING_MODE=onnx",
    `  CPERSONA_EMBEDDING_MODEL=${name}`,
    "what is stored already gets its new vectors in the background",
    ...missingRuntime(),
    ...overruled(),
  );
}

function modelsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => isModelName(name) && isModel(join(folder, name)))
    .sort();
}

function stateOf(name: string, here: readonly string[], chosen: string | null): string {
  if (!here.includes(name)) return "";
  return name === chosen ? "in use" : "here";
}

function row(...cells: [string, string, string, string, string]): string {
  const widths = [24, 9, 12, 12, 0];
  return cells
    .map((cell, i) => cell.padEnd(widths[i] as number))
    .join("")
    .trimEnd();
}

function missingRuntime(): string[] {
  try {
    createRequire(join(packageRoot(), "package.json")).resolve("onnxruntime-node");
    return [];
  } catch {
    return [INSTALL];
  }
}

/** The choice has no effect while the environment says otherwise. */
function overruled(): string[] {
  const set = MODE.find((name) => (process.env[name] ?? "") !== "");
  return set === undefined ? [] : [`note: ${set}=${process.env[set]} in this environment wins over it`];
}

function say(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}
