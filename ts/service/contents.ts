// Reading stored rows by their refs, whole or a range of them.

import { createHash } from "node:crypto";
import { parseJson } from "../domain/json.js";
import { parseRef, type RecordId } from "../domain/record.js";
import type { ReadScope } from "../domain/scope.js";
import { invalidArgument } from "../errors.js";
import { type RecordRow, storedText } from "../recall/candidate.js";
import type { Store } from "../store/store.js";
import { countChars, sliceChars } from "../text/characters.js";
import { chunksOf } from "../text/chunks.js";

/** What a caller asks for: a ref, or a ref with a part of its text. */
export type ContentsRef =
  | string
  | {
      readonly ref: string;
      /** a block's position, or the first and last of several */
      readonly block?: unknown;
      /** `[start, end)` in characters of the stored text */
      readonly span?: unknown;
      readonly node?: unknown;
      /** first 12 hex digits of the SHA-256 of the text that the caller means */
      readonly revision?: unknown;
    };

/** A part of a row's stored text, which is an episode's without its label. */
export interface RowRange {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** length of the whole text */
  readonly contentChars: number;
  /** the blocks that were asked for, and how many there are */
  readonly block?: number | readonly [number, number];
  readonly blocks?: number;
}

export type ContentsRow = RecordRow & {
  readonly range?: RowRange;
  /** the ref as the caller gave it, where it is no string */
  readonly given?: unknown;
};

export type UnresolvedReason =
  | "invalid_range"
  | "no_current_nodes"
  | "no_current_blocks"
  | "block_out_of_range"
  | "span_out_of_range"
  | "stale_revision";

export interface ContentsAnswer {
  readonly rows: readonly ContentsRow[];
  /** refs that are malformed, unknown or somebody else's */
  readonly missing: readonly string[];
  /** rows that are there, but not the part that was asked for */
  readonly unresolved?: readonly { readonly ref: string; readonly reason: UnresolvedReason }[];
}

const MAX_REFS = 20;

/** `readRow` gives null for rows that the caller may not see. One bad ref spoils nothing else. */
export function readContents(
  refs: readonly ContentsRef[],
  readRow: (record: RecordId) => RecordRow | null,
): Required<ContentsAnswer> {
  if (refs.length < 1 || refs.length > MAX_REFS)
    throw invalidArgument("refs", "must be a list of 1 to 20 refs");
  const rows: ContentsRow[] = [];
  const missing: string[] = [];
  const unresolved: { ref: string; reason: UnresolvedReason }[] = [];
  for (const given of refs.map(parseJsonRef)) {
    const ref = typeof given === "string" ? given : textOf((given as { ref?: unknown } | null)?.ref ?? given);
    const record = parseRef(ref);
    const row = record === null ? null : readRow(record);
    if (row === null) missing.push(ref);
    else if (typeof given === "string") rows.push(row);
    else {
      const range = readRange(given, row);
      if (typeof range === "string") unresolved.push({ ref, reason: range });
      else rows.push({ ...row, given, ...(range === null ? {} : { range }) });
    }
  }
  return { rows, missing, unresolved };
}

/** Some clients pass an object as its JSON text. */
function parseJsonRef(given: ContentsRef): ContentsRef {
  if (typeof given !== "string" || !given.trimStart().startsWith("{")) return given;
  try {
    return parseJson(given) as ContentsRef;
  } catch {
    return given;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Null asks for the whole row. */
function readRange(given: Exclude<ContentsRef, string>, row: RecordRow): RowRange | UnresolvedReason | null {
  const text = storedText(row);
  const { block, span, node, revision } = given;
  const asked = [block, span, node].filter((value) => value !== undefined && value !== null);
  if (asked.length > 1) return "invalid_range";
  if (revision !== undefined && revision !== null && revision !== textRevision(text)) return "stale_revision";
  if (asked.length === 0) return null;
  if (node !== undefined && node !== null) return "no_current_nodes";
  return block !== undefined && block !== null ? blockRange(text, block) : spanRange(text, span);
}

/** First 12 hex digits of the SHA-256 of the UTF-8 text. */
export function textRevision(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex").slice(0, 12);
}

function spanRange(text: string, span: unknown): RowRange | UnresolvedReason {
  const pair = readPair(span);
  if (pair === null || pair[1] <= pair[0]) return "invalid_range";
  const contentChars = countChars(text);
  const [start] = pair;
  if (start >= contentChars) return "span_out_of_range";
  const end = Math.min(pair[1], contentChars);
  return { text: sliceChars(text, start, end), start, end, contentChars };
}

function blockRange(text: string, asked: unknown): RowRange | UnresolvedReason {
  const pair = typeof asked === "number" ? readPair([asked, asked]) : readPair(asked);
  if (pair === null || pair[1] < pair[0]) return "invalid_range";
  const blocks = chunksOf(text);
  // A record that is one block has no parts to name.
  if (blocks.length < 2) return "no_current_blocks";
  const first = blocks[pair[0]];
  const last = blocks[pair[1]];
  if (first === undefined || last === undefined) return "block_out_of_range";
  return {
    text: sliceChars(text, first.start, last.end),
    start: first.start,
    end: last.end,
    contentChars: countChars(text),
    block: typeof asked === "number" ? asked : pair,
    blocks: blocks.length,
  };
}

function readPair(value: unknown): [number, number] | null {
  if (!Array.isArray(value) || value.length !== 2) return null;
  const [first, second] = value as unknown[];
  const isCount = (item: unknown): item is number => Number.isSafeInteger(item) && (item as number) >= 0;
  return isCount(first) && isCount(second) ? [first, second] : null;
}

/** The row that a scope may see; null where there is none. */
export function rowOf({ kind, id }: RecordId, scope: ReadScope, store: Store): RecordRow | null {
  if (kind === "mem") {
    const [memory] = store.memories.get([id], scope);
    return memory === undefined ? null : { kind, memory };
  }
  const [episode] = store.episodes.get([id], scope);
  return episode === undefined ? null : { kind, episode };
}
