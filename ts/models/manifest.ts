// What is to be fetched from a folder on a server: the files of its `manifest.json`, or those of a plain model.

import { JsonError, parseJson } from "../domain/json.js";
import { invalidArgument } from "../errors.js";
import type { DownloadTimes } from "./download.js";
import type { Plan, PlannedFile } from "./pull.js";
import { connectionError, downloadError, getFile } from "./request.js";

const MAX_MANIFEST_BYTES = 65_536;
const MAX_FILES = 32;
/** Folder names and a file name, none of them hidden or leading upwards. */
const PATH = /^(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,63}\/){0,3}[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;

/**
 * `{"files": [{"path", "bytes", "sha256"}, ...]}`, the last two optional. Throws `invalid_argument` for an address
 * that is none, `download_failed` for a manifest that breaks its rules.
 */
export async function readManifest(from: string, { silenceMs }: DownloadTimes): Promise<Plan> {
  if (!/^https?:/.test(from) || !URL.canParse(from))
    throw invalidArgument("from", "must be an http or https URL");
  const base = new URL(from);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  const urlOf = (path: string) => {
    const url = new URL(base);
    url.pathname += path;
    return url.href;
  };
  const { response } = await getFile(urlOf("manifest.json"), { signal: AbortSignal.timeout(silenceMs) });
  if (response.status === 404) {
    await response.body?.cancel();
    return { files: PLAIN_FILES.map((file) => ({ ...file, url: urlOf(file.path) })), config: null };
  }
  if (response.status !== 200) {
    await response.body?.cancel();
    throw downloadError(`manifest.json: the server answered with HTTP status ${response.status}`);
  }
  const files = parse(await limitedText(response));
  return { files: files.map((file) => ({ ...file, url: urlOf(file.path) })), config: null };
}

type File = Omit<PlannedFile, "url">;

const plain = (path: string, isOptional = false): File => ({ path, bytes: null, sha256: null, isOptional });
const PLAIN_FILES = [
  plain("config.json"),
  plain("tokenizer.json"),
  plain("tokenizer_config.json", true),
  plain("model.onnx"),
];

function parse(text: string): File[] {
  let manifest: unknown;
  try {
    manifest = parseJson(text);
  } catch (error) {
    throw error instanceof JsonError ? broken(error.fault) : error;
  }
  const files = (manifest as { files?: unknown } | null)?.files;
  if (!Array.isArray(files) || files.length === 0 || files.length > MAX_FILES)
    throw broken(`must have files, 1 to ${MAX_FILES}`);
  return files.map((file: unknown) => {
    const { path, bytes = null, sha256 = null } = (file ?? {}) as Record<string, unknown>;
    if (typeof path !== "string" || !PATH.test(path))
      throw broken("has a path that does not stay in the folder");
    if (bytes !== null && !(Number.isSafeInteger(bytes) && (bytes as number) > 0))
      throw broken("has bytes that are no whole number above 0");
    if (sha256 !== null && !(typeof sha256 === "string" && /^[0-9a-f]{64}$/i.test(sha256)))
      throw broken("has a sha256 that is not 64 hex digits");
    return { path, bytes: bytes as number | null, sha256: (sha256 as string | null)?.toLowerCase() ?? null };
  });
}

async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > MAX_MANIFEST_BYTES) throw broken("is larger than 64 KiB");
      chunks.push(chunk);
    }
  } catch (error) {
    throw connectionError(error);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function broken(rule: string) {
  return downloadError(`manifest.json ${rule}`);
}
