// Recall merged with the conversation the caller holds, in the order of the moments that stamps name.

import { parseInstant } from "../domain/time.js";
import { type Hit, rowTime } from "./candidate.js";

/** One entry of the caller's conversation, fields that are no text taken out. */
export interface ContextEntry {
  readonly role: string;
  readonly content: string;
  readonly name?: string | undefined;
  readonly userId?: string | undefined;
  readonly timestamp?: string | undefined;
}

export type MergedEntry =
  | { readonly kind: "hit"; readonly hit: Hit }
  | { readonly kind: "echo"; readonly entry: ContextEntry };

/** Roles that are shown among the rows; entries of other roles only filter. */
const SHOWN_ROLES = new Set(["user", "assistant"]);

export function isShown({ role }: ContextEntry): boolean {
  return SHOWN_ROLES.has(role);
}

/**
 * Rows and shown entries by moment, earliest first. What names no moment comes first, in merged order (rows,
 * then entries). A stamp without an offset is UTC.
 */
export function mergeByTime(hits: readonly Hit[], entries: readonly ContextEntry[]): MergedEntry[] {
  const merged: { entry: MergedEntry; instant: number | null }[] = [
    ...hits.map((hit) => ({ entry: { kind: "hit" as const, hit }, instant: parseInstant(hitTime(hit)) })),
    ...entries
      .filter(isShown)
      .map((entry) => ({ entry: { kind: "echo" as const, entry }, instant: parseInstant(entry.timestamp) })),
  ];
  const order = (instant: number | null): number => instant ?? Number.NEGATIVE_INFINITY;
  return merged.sort((a, b) => order(a.instant) - order(b.instant) || 0).map(({ entry }) => entry);
}

function hitTime({ row }: Hit): string | null {
  return row.kind === "profile" ? null : rowTime(row);
}

/** Texts that the recall leaves out: every entry's, whatever its role. */
export function heldTexts(entries: readonly ContextEntry[]): string[] {
  return entries.map(({ content }) => content).filter((content) => content.trim() !== "");
}
