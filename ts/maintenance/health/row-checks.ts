// Checks of single memories, run in one pass over the table. Each says whether a row has the fault, and how
// an unlocked one is mended. Pure functions.

import { parseJson } from "../../domain/json.js";
import { canonicalSource, type Source } from "../../domain/source.js";
import { parseInstant } from "../../domain/time.js";
import type { MemoryPatch, RawMemory } from "../../store/health.js";
import { countChars } from "../../text/characters.js";
import { cleanText } from "../../text/clean.js";

export interface RowContext {
  readonly maxChars: number;
  /** stamps behind this moment lie in the future, ms */
  readonly latest: number;
  readonly hash: (content: string) => Uint8Array;
}

/** New columns, a new text, or that the row goes; null where nothing can be done. */
export type Mending =
  | { readonly patch: MemoryPatch }
  | { readonly content: string }
  | { readonly remove: true }
  | null;

export interface RowCheck {
  readonly name: string;
  readonly hint?: string;
  has(row: RawMemory, context: RowContext): boolean;
  mend?(row: RawMemory, context: RowContext): Mending;
}

export const ROW_CHECKS: readonly RowCheck[] = [
  {
    name: "empty_content",
    hint: "a repair deletes unlocked rows without a text",
    has: ({ content }) => content.trim() === "",
    mend: () => ({ remove: true }),
  },
  {
    name: "oversized_content",
    hint: "a repair cuts the text to the cap for good",
    has: ({ content }, { maxChars }) => content.length > maxChars && countChars(content) > maxChars,
    mend: ({ content }, { maxChars }) => ({ content: cleanText(content, maxChars).text }),
  },
  {
    name: "memory_annotation",
    hint: 'a repair removes "[Memory from …]"',
    has: ({ content }) =>
      content.includes("[Memory from ") &&
      cleanText(content, Number.MAX_SAFE_INTEGER).text !== content.trim(),
    mend: ({ content }, { maxChars }) => {
      const { text } = cleanText(content, maxChars);
      return text === "" ? { remove: true } : { content: text };
    },
  },
  {
    name: "invalid_json",
    hint: "a repair keeps an unreadable source as a text and empties unreadable metadata and tags",
    has: (row) => Object.keys(jsonPatch(row)).length > 0,
    mend: (row) => ({ patch: jsonPatch(row) }),
  },
  {
    name: "invalid_source_type",
    hint: "a repair writes the source in its one spelling",
    has: ({ source }) => canonical(source) !== null,
    mend: ({ source }) => {
      const text = canonical(source);
      return text === null ? null : { patch: { source: text } };
    },
  },
  {
    name: "anonymous_source",
    hint: "rows whose source names nobody",
    has: ({ source }) => {
      const value = readJson(source);
      if (typeof value !== "object" || value === null) return false;
      const { type, id, name } = value as Record<string, unknown>;
      return type === "User" && (id ?? "") === "" && (name ?? "") === "";
    },
  },
  {
    name: "invalid_timestamp",
    hint: "stamps that name no moment; a repair puts the storage time in their place",
    has: ({ timestamp }) => parseInstant(timestamp) === null,
    mend: ({ createdAt }) => toStamp(createdAt),
  },
  {
    name: "future_timestamp",
    hint: "a repair puts the storage time in its place",
    has: ({ timestamp }, { latest }) => (parseInstant(timestamp) ?? Number.NEGATIVE_INFINITY) > latest,
    mend: ({ createdAt }) => toStamp(createdAt),
  },
  {
    name: "derived_columns",
    hint: "a repair computes the content hash and the moment anew",
    has: (row, context) => Object.keys(derivedPatch(row, context)).length > 0,
    mend: (row, context) => ({ patch: derivedPatch(row, context) }),
  },
];

function toStamp(createdAt: string): Mending {
  const instant = parseInstant(createdAt);
  return instant === null ? null : { patch: { timestamp: createdAt, instant } };
}

function derivedPatch(row: RawMemory, { hash }: RowContext): MemoryPatch {
  const instant = parseInstant(row.timestamp);
  const contentHash = hash(row.content);
  const isSame = Buffer.from(contentHash).equals(Buffer.from(row.contentHash));
  return { ...(instant === row.instant ? {} : { instant }), ...(isSame ? {} : { contentHash }) };
}

function jsonPatch({ source, tags, metadata }: RawMemory): MemoryPatch {
  const isObject = (text: string): boolean => {
    const value = readJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  };
  return {
    ...(isObject(source) || typeof readJson(source) === "string" ? {} : { source: JSON.stringify(source) }),
    ...(isObject(metadata) ? {} : { metadata: "{}" }),
    ...(Array.isArray(readJson(tags)) ? {} : { tags: "[]" }),
  };
}

/** The source in its one spelling, or null when it has that already. */
function canonical(text: string): string | null {
  const value = readJson(text);
  if (typeof value !== "string" && (typeof value !== "object" || value === null || Array.isArray(value)))
    return null;
  const folded = JSON.stringify(canonicalSource(value as Source));
  return folded === JSON.stringify(value) ? null : folded;
}

function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
