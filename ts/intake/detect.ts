// Files and folders to the readers that understand them. Says what it leaves out, and never follows a link
// in circles.
import type { Dirent } from "node:fs";
import { open, readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { parseJson } from "../domain/json.js";
import { repairText } from "../text/clean.js";
import { decode, looksBinary, readLines, SNIFF_BYTES } from "./decode.js";
import { type Intake, isRecord, type Note } from "./draft.js";
import { draftsFromJsonl } from "./jsonl.js";
import { draftsFromMarkdown } from "./markdown.js";
import { draftsFromText } from "./text.js";
import { draftsFromTranscript } from "./transcript.js";

/** Files that are read whole must be smaller than this; JSONL is read line by line and may be bigger. */
const MAX_FILE_BYTES = 50 * 1024 * 1024;

const MARKDOWN = /\.(?:md|markdown|mdx|mdown)$/i;
const JSONL = /\.(?:jsonl|ndjson)$/i;
const TEXT = /\.(?:txt|text|rst|org|adoc)$/i;
const SKIPPED_FOLDERS = new Set(["node_modules", "__pycache__"]);

/** A file that can be read, with the name that ids and notes use. */
export interface InputFile {
  path: string;
  /** `/`-separated, from the given path's own last part on. */
  relative: string;
  bytes: number;
}

interface Walk {
  notes: Note[];
  seen: Set<string>;
  left: number;
}

/**
 * The readable files under `paths` in a fixed order (names compared by code unit), each once, and notes
 * about the rest. A path that does not exist is a note, too.
 */
export async function findFiles(paths: readonly string[]): Promise<{ files: InputFile[]; notes: Note[] }> {
  const walk: Walk = { notes: [], seen: new Set(), left: 0 };
  const files: InputFile[] = [];
  for (const path of paths) {
    const name = basename(await realpath(path).catch(() => path)) || path;
    files.push(...(await visit(path, name, true, walk)));
  }
  if (walk.left > 0) {
    const kinds = "other than Markdown, text and JSONL";
    const text = `${walk.left} ${walk.left === 1 ? "file" : "files"} ${kinds} left out`;
    walk.notes.push({ file: paths.join(", "), text });
  }
  return { files, notes: walk.notes };
}

async function visit(path: string, relative: string, named: boolean, walk: Walk): Promise<InputFile[]> {
  const note = (text: string): InputFile[] => {
    walk.notes.push({ file: relative, text });
    return [];
  };
  try {
    const real = await realpath(path);
    if (walk.seen.has(real)) return [];
    const info = await stat(real);
    if (info.isDirectory()) {
      walk.seen.add(real);
      const entries = await readdir(path, { withFileTypes: true });
      const found: InputFile[] = [];
      for (const entry of entries.filter(isWanted).sort(byName)) {
        found.push(...(await visit(join(path, entry.name), `${relative}/${entry.name}`, false, walk)));
      }
      return found;
    }
    if (!info.isFile()) return note("neither a file nor a folder, left out");
    if (!named && !MARKDOWN.test(path) && !JSONL.test(path) && !TEXT.test(path)) {
      walk.left++;
      return [];
    }
    walk.seen.add(real);
    if (info.size > MAX_FILE_BYTES && !JSONL.test(path)) {
      return note(`larger than ${MAX_FILE_BYTES >> 20} MB, left out`);
    }
    return [{ path, relative: relative.split(sep).join("/"), bytes: info.size }];
  } catch (error) {
    return note(reason(error));
  }
}

function isWanted(entry: Dirent): boolean {
  return !entry.name.startsWith(".") && !SKIPPED_FOLDERS.has(entry.name);
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function reason(error: unknown): string {
  const code = isRecord(error) ? error["code"] : undefined;
  if (code === "ENOENT") return "does not exist";
  if (code === "EACCES" || code === "EPERM") return "may not be read (permission denied)";
  if (code === "ELOOP") return "a link that leads to itself, left out";
  return `cannot be read${typeof code === "string" ? ` (${code})` : ""}`;
}

/** Drafts and notes of everything under `paths`, file by file. */
export async function* readDrafts(paths: readonly string[]): AsyncGenerator<Intake> {
  const { files, notes } = await findFiles(paths);
  for (const note of notes) yield { note };
  for (const file of files) yield* readFileDrafts(file);
}

/** Drafts and notes of one file. A file that cannot be read gives one note. */
export async function* readFileDrafts(file: InputFile): AsyncGenerator<Intake> {
  const note = (text: string): Intake => ({ note: { file: file.relative, text } });
  try {
    if (file.bytes === 0) {
      yield note("empty");
      return;
    }
    const head = await readHead(file.path);
    if (looksBinary(head)) {
      yield note("a binary file, left out");
      return;
    }
    if (JSONL.test(file.path)) {
      const reader = isTranscript(head) ? draftsFromTranscript : draftsFromJsonl;
      yield* reader(readLines(file.path), file.relative);
      return;
    }
    const decoded = decode(await readFile(file.path));
    if ("problem" in decoded) {
      yield note(decoded.problem);
      return;
    }
    const { text, changed } = repairText(decoded.text);
    if (changed) yield note("held NUL or half surrogate pairs; these characters were replaced");
    const reader = MARKDOWN.test(file.path) ? draftsFromMarkdown : draftsFromText;
    for (const draft of reader(text, file.relative)) yield { draft };
  } catch (error) {
    yield note(reason(error));
  }
}

async function readHead(path: string, bytes = 8 * SNIFF_BYTES): Promise<Uint8Array> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Whether the first lines of a JSONL file are Claude Code records rather than exported memories. */
function isTranscript(head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head);
  for (const line of text.split("\n")) {
    try {
      const record: unknown = parseJson(line);
      if (!isRecord(record)) continue;
      if (record["_type"] !== undefined) return false;
      if (
        typeof record["type"] === "string" &&
        (isRecord(record["message"]) || "sessionId" in record || "leafUuid" in record)
      )
        return true;
      if (typeof record["content"] === "string") return false;
    } catch {
      // The last line is usually cut by the window; a first line longer than it is judged by its keys.
      if (/^\{"_type"|^\{"content"/.test(line)) return false;
      if (/"(?:parentUuid|sessionId|isSidechain)"\s*:/.test(line)) return true;
    }
  }
  return false;
}

/** What is to be expected from some files. */
export interface Estimate {
  files: number;
  bytes: number;
  drafts: number;
  /** Whether `drafts` was counted rather than guessed from the size. */
  exact: boolean;
}

const COUNTED_BYTES = 32 * 1024 * 1024;
/** Bytes of notes or transcript per draft, seen on mixed folders; only used above `COUNTED_BYTES`. */
const BYTES_PER_DRAFT = 2_000;

/** How many drafts to expect, for progress bars: counted for up to 32 MB, guessed from the size above. */
export async function estimateDrafts(files: readonly InputFile[]): Promise<Estimate> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > COUNTED_BYTES) {
    return { files: files.length, bytes, drafts: Math.ceil(bytes / BYTES_PER_DRAFT), exact: false };
  }
  let drafts = 0;
  for (const file of files) {
    for await (const item of readFileDrafts(file)) if ("draft" in item) drafts++;
  }
  return { files: files.length, bytes, drafts, exact: true };
}
