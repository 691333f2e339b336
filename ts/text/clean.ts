// What may be stored of a text: defects that are refused, and the cleaning of everything else.

import { countChars, cutChars } from "./characters.js";

/** Why a text cannot be stored as it is, as a rule to put behind the field's name; null when it can. */
export function textDefect(text: string): string | null {
  if (!text.isWellFormed()) return "must not contain a lone surrogate";
  return text.includes("\0") ? "must not contain NUL" : null;
}

/** The same for the strings inside serialised JSON, where both defects are written as escapes. */
export function jsonDefect(json: string): string | null {
  if (/(?<!\\)(?:\\\\)*\\ud[89a-f]/i.test(json)) return "must not contain a lone surrogate";
  return /(?<!\\)(?:\\\\)*\\u0000/.test(json) ? "must not contain NUL" : null;
}

const ANNOTATION_START = "[Memory from ";

/**
 * Removes `[Memory from …]` and the white space behind it, also where removing one completes another.
 * One pass over the text: an adversarial nesting must not cost quadratic time.
 */
function removeAnnotations(text: string): string {
  if (!text.includes(ANNOTATION_START)) return text;
  const kept: string[] = [];
  let open = -1;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charAt(i);
    if (unit === "]" && open >= 0) {
      kept.length = open;
      open = -1;
      while (/\s/.test(text.charAt(i + 1))) i++;
      continue;
    }
    kept.push(unit);
    if (open < 0 && unit === " " && endsWith(kept, ANNOTATION_START))
      open = kept.length - ANNOTATION_START.length;
  }
  return kept.join("");
}

function endsWith(units: readonly string[], ending: string): boolean {
  const from = units.length - ending.length;
  for (let i = ending.length - 1; i >= 0; i--) if (units[from + i] !== ending.charAt(i)) return false;
  return true;
}

export interface CleanText {
  readonly text: string;
  readonly truncated: boolean;
}

/** The documented cleaning before anything is stored: annotations out, trimmed, cut to `maxChars`. */
export function cleanText(raw: string, maxChars: number): CleanText {
  const text = removeAnnotations(raw).trim();
  if (text.length <= maxChars || countChars(text) <= maxChars) return { text, truncated: false };
  return { text: cutChars(text, maxChars).trimEnd(), truncated: true };
}

/** A foreign text without NUL and with lone surrogates replaced, and whether anything had to be changed. */
export function repairText(text: string): { text: string; changed: boolean } {
  const repaired = text.replaceAll("\0", "").toWellFormed();
  return { text: repaired, changed: repaired !== text };
}
