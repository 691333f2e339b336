// Fetches a model into the folder of models: file by file into a hidden folder beside it, which gets the model's
// name when everything is there, checked, and readable as a model. One process at a time for each model.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readModelFolder, statedByFiles } from "../embedding/onnx/model-folder.js";
import { describeError, invalidArgument } from "../errors.js";
import { makePrivateFolder, writePrivateFile } from "../files.js";
import { isModelName } from "../settings/chosen-model.js";
import { CATALOGUE, type CatalogueModel, HUB_FILES, HUB_FOLDER } from "./catalogue.js";
import { type DownloadTimes, downloadFile, PATIENT } from "./download.js";
import { readManifest } from "./manifest.js";
import { downloadError } from "./request.js";

export interface PullRequest {
  readonly name: string;
  /** address of a folder with `manifest.json`, or with the files of a model; null takes the catalogue's */
  readonly from: string | null;
  /** fetch it again when it is there already */
  readonly again: boolean;
}

export interface PullParts {
  readonly folder: string;
  readonly mirror: string;
  /** null while another process has the lock */
  readonly lock: (path: string) => { release(): void } | null;
  /** `file` is the one that is coming */
  readonly progress: (file: string, done: number, total: number) => void;
  readonly times?: DownloadTimes;
}

export interface PlannedFile {
  /** in the model's folder, with slashes */
  readonly path: string;
  readonly url: string;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly isOptional?: boolean;
}

export interface Plan {
  readonly files: readonly PlannedFile[];
  /** becomes `config.json`, behind what the files say; null when it is one of the files */
  readonly config: CatalogueModel["config"] | null;
}

/**
 * `present` when the model was there. Throws `invalid_argument` for a bad or unknown name, and `download_failed`;
 * then nothing has changed but the hidden folder, with which the next pull goes on.
 */
export async function pullModel(request: PullRequest, parts: PullParts): Promise<"pulled" | "present"> {
  const { name, again } = request;
  if (!isModelName(name))
    throw invalidArgument("name", "must be 1 to 64 letters, digits, dots, dashes or underscores");
  if (request.from === null && !CATALOGUE.some((model) => model.name === name))
    throw invalidArgument(
      "name",
      `must be one of ${CATALOGUE.map((model) => model.name).join(", ")}, or come with --from`,
    );
  try {
    makePrivateFolder(parts.folder);
  } catch {
    throw downloadError("the folder of models cannot be written");
  }
  const lock = parts.lock(join(parts.folder, `.${name}.lock`));
  if (lock === null) throw downloadError(`another process is pulling ${name}`);
  try {
    const target = join(parts.folder, name);
    if (!again && isModel(target)) return "present";
    await fetchInto(target, request, parts);
    return "pulled";
  } finally {
    lock.release();
  }
}

async function fetchInto(target: string, request: PullRequest, parts: PullParts): Promise<void> {
  const { folder, times = PATIENT } = parts;
  const half = join(folder, `.${request.name}.part`);
  const plan = await planOf(request, parts, times);
  startOrGoOn(half, digestOf(plan));
  for (const { path, url, bytes, sha256, isOptional = false } of plan.files) {
    const file = join(half, path);
    if (existsSync(file)) continue;
    makePrivateFolder(join(file, ".."));
    const show = (done: number, total: number) => parts.progress(path, done, total);
    await downloadFile({ url, path: file, bytes, sha256, isOptional }, times, show).catch(
      (error: unknown) => {
        throw downloadError(`${path}: ${describeError(error)}`);
      },
    );
  }
  try {
    if (plan.config !== null) describe(half, plan.config);
    readModelFolder(half);
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    throw downloadError(`what was fetched is no model: ${describeError(error)}`);
  }
  rmSync(join(half, SOURCE), { force: true });
  replace(target, half);
}

/** Writes `config.json`: what the model's own files say, and the catalogue where they are silent. */
function describe(half: string, known: CatalogueModel["config"]): void {
  const { mostTokens, ...stated } = statedByFiles(join(half, HUB_FOLDER));
  const config = { ...known, ...stated, max_tokens: Math.min(known.max_tokens, mostTokens) };
  writePrivateFile(join(half, "config.json"), `${JSON.stringify(config, null, 1)}\n`);
}

const SOURCE = ".source";

/** A plan's addresses may hold passwords, so only a digest of it is kept. */
function digestOf(plan: Plan): string {
  return createHash("sha256").update(JSON.stringify(plan)).digest("hex");
}

/** What of the hidden folder came by this very plan stays; all else goes. */
function startOrGoOn(half: string, plan: string): void {
  const source = join(half, SOURCE);
  if (existsSync(source) && readFileSync(source, "utf8") === plan) return;
  rmSync(half, { recursive: true, force: true });
  makePrivateFolder(half);
  writePrivateFile(source, plan);
}

function replace(target: string, fresh: string): void {
  const old = `${fresh}.old`;
  rmSync(old, { recursive: true, force: true });
  if (existsSync(target)) renameSync(target, old);
  renameSync(fresh, target);
  rmSync(old, { recursive: true, force: true });
}

async function planOf(
  { name, from }: PullRequest,
  { mirror }: PullParts,
  times: DownloadTimes,
): Promise<Plan> {
  if (from !== null) return await readManifest(from, times);
  const model = CATALOGUE.find((known) => known.name === name);
  if (model === undefined) throw invalidArgument("name", "must be in the catalogue");
  const base = `${mirror}/${model.repository}/resolve/main`;
  const files = HUB_FILES.map(({ from, to, isOptional }) => {
    return { path: to, url: `${base}/${from}`, bytes: null, sha256: null, isOptional };
  });
  return { files, config: model.config };
}

/** Whether the folder can be used as it lies. */
export function isModel(folder: string): boolean {
  try {
    readModelFolder(folder);
    return true;
  } catch {
    return false;
  }
}
