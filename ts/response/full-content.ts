// Which rows of a recall are shown whole, and which the preview cuts.

import { type Hit, rowText } from "../recall/candidate.js";
import type { PassageRequest } from "../recall/recall-parts.js";
import { countChars } from "../text/characters.js";
import type { RecallView } from "./rows.js";

/** Whole texts of one recall, in characters. */
export const FULL_CONTENT_CHARS = 200_000;

export interface WholeRows {
  readonly whole: ReadonlySet<Hit>;
  /** some row did not fit and is cut like a preview */
  readonly isOverBudget: boolean;
}

/**
 * Expects hits worst first. With full content the best rows are whole while they fit (the best always); behind
 * the first that does not, all others are cut. The profile has no ref to read on with, so it is never cut.
 */
export function wholeRows(hits: readonly Hit[], view: RecallView): WholeRows {
  const whole = new Set<Hit>();
  let used = 0;
  let isOverBudget = false;
  for (const hit of [...hits].reverse()) {
    const text = rowText(hit.row);
    const length = countChars(text);
    const isShort = hit.row.kind === "profile" || view.previewChars <= 0 || length <= view.previewChars;
    if (view.fullContent !== true) {
      if (isShort) whole.add(hit);
      continue;
    }
    const fits = used === 0 || used + length <= FULL_CONTENT_CHARS;
    if ((fits && !isOverBudget) || isShort) whole.add(hit);
    if (!fits) isOverBudget = true;
    used += length;
  }
  return { whole, isOverBudget: isOverBudget && whole.size < hits.length };
}

/** What a recall is asked for beside its rows, so that cut ones can show an excerpt; undefined when they do not. */
export function passageRequest(view: RecallView): PassageRequest | undefined {
  const { previewChars, excerptChars } = view;
  if (previewChars <= 0 || excerptChars <= 0) return undefined;
  return {
    maxChars: excerptChars,
    of: (hits) => {
      const { whole } = wholeRows(hits, view);
      return new Set(hits.filter((hit) => !whole.has(hit)));
    },
  };
}
