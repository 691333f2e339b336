// Caps and cleaning of stored text. A character is a Unicode code point, in every count and cut.

/** Number of code points. */
export function countChars(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff && i + 1 < text.length) {
      count--;
      i++;
    }
  }
  return count;
}

const ASCII = /^\p{ASCII}*$/u;

/** Whether a text can do without the Unicode classes, which take milliseconds to compile at their first use. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** The first `maxChars` code points. Expects well-formed text. */
export function cutChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let units = 0;
  for (let chars = 0; chars < maxChars && units < text.length; chars++) {
    const unit = text.charCodeAt(units);
    units += unit >= 0xd800 && unit <= 0xdbff ? 2 : 1;
  }
  return text.slice(0, units);
}

/** The code points from `start` up to `end`. Expects well-formed text. */
export function sliceChars(text: string, start: number, end: number): string {
  const head = cutChars(text, end);
  return head.slice(cutChars(head, start).length);
}

/** `sliceChars` for many stretches of one text: the text is walked once. */
export function charSlicer(text: string): (start: number, end: number) => string {
  if (countChars(text) === text.length) return (start, end) => text.slice(start, end);
  const units = [0];
  for (const char of text) units.push((units[units.length - 1] ?? 0) + char.length);
  const unitOf = (at: number): number => units[Math.min(Math.max(at, 0), units.length - 1)] ?? 0;
  return (start, end) => text.slice(unitOf(start), unitOf(end));
}

/**
 * The text with one stand-in unit for every pair of surrogates, so that string offsets are code points. The
 * stand-in is a symbol: no letter, no blank, no mark.
 */
export function foldAstral(text: string): string {
  return countChars(text) === text.length ? text : text.replace(/[\u{10000}-\u{10ffff}]/gu, "\u25a0");
}

/**
 * Letters, digits, kana, ideographs and punctuation that begin a grapheme and end one: between two of them there is a
 * border. Without a segmenter, which takes 12 ms to load.
 */
const PLAIN_PAIR = /^[ -~\u00c0-\u024f\u3001-\u3029\u3041-\u3096\u30a1-\u30ff\u4e00-\u9fff\uff01-\uff5e]{2}$/;

let graphemes: Intl.Segmenter | undefined;

/** The start of the grapheme that a cut at `at` would split, else `at`; both in code points, never before `from`. */
export function graphemeStart(text: string, from: number, at: number): number {
  // No grapheme that anybody writes is longer.
  const windowStart = Math.max(from, at - 64);
  const window = sliceChars(text, windowStart, at + 64);
  const unit = cutChars(window, at - windowStart).length;
  if (PLAIN_PAIR.test(window.slice(unit - 1, unit + 1))) return at;
  graphemes ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const found = graphemes.segment(window).containing(unit);
  return found === undefined ? at : windowStart + countChars(window.slice(0, found.index));
}

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

/** Trimmed and lower-cased: the form in which texts are compared for exclusion. */
export function foldCase(text: string): string {
  return text.trim().toLowerCase();
}
