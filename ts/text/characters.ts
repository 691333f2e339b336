// Counting and cutting. A character is a Unicode code point, in every count and cut.

/** A stretch of a text in code points, its end not included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Number of code points; a lone surrogate counts as one. */
export function countChars(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) if (startsPair(text, i)) count--;
  return count;
}

/** Whether the unit at `i` is the first of a surrogate pair. */
function startsPair(text: string, i: number): boolean {
  return (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
}

const ASCII = /^\p{ASCII}*$/u;

/** Whether a text can do without the Unicode classes, which take milliseconds to compile at their first use. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** The first `maxChars` code points. */
export function cutChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let units = 0;
  for (let chars = 0; chars < maxChars && units < text.length; chars++)
    units += startsPair(text, units) ? 2 : 1;
  return text.slice(0, units);
}

/** The code points from `start` up to `end`. */
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
