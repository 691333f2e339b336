// What intake makes of files: drafts of memories, and notes about what was left out.
// Drafts are not validated here; the write side has the last word.
import { createHash } from "node:crypto";
import { repairText } from "../text/clean.js";

/** One memory to be, before it is stored. */
export interface Draft {
  content: string;
  /** ISO 8601 in UTC. Absent when the file does not say; the store then takes the present. */
  timestamp?: string;
  /** Idempotency key: the same file with the same text gives the same id. */
  id?: string;
  source?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  project_id?: string;
  channel?: string;
  /** Default `memory`. */
  kind?: "memory" | "episode" | "profile";
  tags?: string[];
}

/** Something a person should know about a file; intake goes on after it. */
export interface Note {
  /** Path as it was given or found, never made absolute. */
  file: string;
  line?: number;
  text: string;
}

/** What the readers yield. */
export type Intake = { draft: Draft } | { note: Note };

/** The largest piece that Markdown and transcripts are split into, in code points. */
export const MAX_DRAFT_CHARS = 1_500;

const MAX_ID_CHARS = 200;

/**
 * `<relative file>#<short hash of the content>`, at most 200 characters. Equal for equal text in the same
 * file, so that reading a file again is skipped by the store.
 */
export function draftId(relativeFile: string, content: string): string {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 12);
  if (relativeFile.length + 1 + hash.length <= MAX_ID_CHARS) return `${relativeFile}#${hash}`;
  // Only the tail of a long path is kept; the hash of the whole path keeps two such files apart.
  const path = createHash("sha256").update(relativeFile).digest("hex").slice(0, 8);
  const tail = [...relativeFile].slice(-150).join("").toWellFormed();
  return `${path}:${tail.slice(-(MAX_ID_CHARS - hash.length - path.length - 2))}#${hash}`.toWellFormed();
}

/** `repairText` over every string of a JSON value, keys included. */
export function cleanValue(value: unknown): { value: unknown; changed: boolean } {
  let changed = false;
  const walk = (node: unknown): unknown => {
    if (typeof node === "string") {
      const clean = repairText(node);
      changed ||= clean.changed;
      return clean.text;
    }
    if (Array.isArray(node)) return node.map(walk);
    if (node !== null && typeof node === "object") {
      return Object.fromEntries(Object.entries(node).map(([key, inner]) => [walk(key), walk(inner)]));
    }
    return node;
  };
  return { value: walk(value), changed };
}

/** Whether a JSON value is an object with keys (no list, no null). */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
