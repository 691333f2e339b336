// The size of a whole answer. A client hides an answer over its own limit from the agent, so no answer may grow
// with what is stored: the best rows keep their text, the rest is shortened or left out, and that is said.

import { countChars } from "../text/characters.js";
import type { WireObject } from "./rows.js";

/** Characters of the serialised value. Those beyond ASCII count twice: a model pays about twice for them. */
export function wireSize(value: unknown): number {
  const json = JSON.stringify(value);
  if (json === undefined) return 0;
  let wide = 0;
  for (let i = 0; i < json.length; i++) {
    const unit = json.charCodeAt(i);
    // The second half of a pair was counted with the first.
    if (unit > 0x7f && (unit < 0xdc00 || unit > 0xdfff)) wide++;
  }
  return countChars(json) + wide;
}

/** Characters of the serialised value, each counted once. */
export function plainSize(value: unknown): number {
  return countChars(JSON.stringify(value) ?? "");
}

/** One row in several forms, the richest first; each next one is smaller. */
export type RowForms = readonly WireObject[];

export interface FittedRows {
  /** in the order given; null where a row was left out */
  readonly rows: readonly (WireObject | null)[];
  readonly shortened: number;
  readonly leftOut: number;
}

/**
 * Chooses a form for each row, so that all fit into `budget`. `bestFirst` names rows by position: the first of
 * them keep their richest forms, the last are left out when not even all barest forms fit. The best row always
 * stays.
 */
export function fitRows(
  rows: readonly RowForms[],
  bestFirst: readonly number[],
  budget: number,
  size: (value: unknown) => number = wireSize,
): FittedRows {
  const sizes = new Map<WireObject, number>();
  const sizeOf = (form: WireObject | undefined): number => {
    if (form === undefined) return 0;
    const known = sizes.get(form);
    const measured = known ?? size(form) + 1;
    if (known === undefined) sizes.set(form, measured);
    return measured;
  };
  const barest = (i: number): WireObject | undefined => rows[i]?.[(rows[i]?.length ?? 0) - 1];
  const kept = [...bestFirst];
  let used = kept.reduce((sum, i) => sum + sizeOf(barest(i)), 0);
  while (used > budget && kept.length > 1) used -= sizeOf(barest(kept.pop() ?? -1));
  const shown = new Map<number, WireObject>();
  let shortened = 0;
  // A weaker row is never shown richer than a better one.
  let richest = 0;
  for (const i of kept) {
    const forms = rows[i] ?? [];
    const base = sizeOf(barest(i));
    const found = forms.findIndex(
      (form, at) => at >= Math.min(richest, forms.length - 1) && used - base + sizeOf(form) <= budget,
    );
    const at = found < 0 ? forms.length - 1 : found;
    const form = forms[at];
    if (form === undefined) continue;
    if (at > 0) {
      shortened++;
      richest = Math.max(richest, at);
    }
    used += sizeOf(form) - base;
    shown.set(i, form);
  }
  return {
    rows: rows.map((_, i) => shown.get(i) ?? null),
    shortened,
    leftOut: rows.length - shown.size,
  };
}

/** What an answer says about rows that did not fit; nothing when all did. */
export function leftOutNote({ shortened, leftOut }: FittedRows, budget: number): WireObject {
  if (shortened === 0 && leftOut === 0) return {};
  return { left_out: { rows: leftOut, shortened, budget_chars: budget } };
}

/** The first rows that fit into `budget`, at least one. */
export function fitPage(items: readonly WireObject[], budget: number): WireObject[] {
  let used = 0;
  const end = items.findIndex((item, i) => {
    used += wireSize(item) + 1;
    return i > 0 && used > budget;
  });
  return end < 0 ? [...items] : items.slice(0, end);
}
