// Where a text may be cut: sentences, lines, paragraphs. A pure function of the text; offsets are code points.

import { foldAstral, graphemeStart } from "./characters.js";

/** One stretch of a text; the pieces of a text partition it exactly. */
export interface Sentence {
  readonly start: number;
  readonly end: number;
  /** ends where nothing but the length asked for a cut */
  readonly forced: boolean;
}

/** Longer pieces are cut by force. */
export const MAX_SENTENCE_CHARS = 739;

/**
 * Cuts behind sentence ends, lines and paragraphs, never inside brackets or fenced code unless a piece would
 * be longer than `maxChars`. No piece is blank unless the whole text is.
 */
export function splitSentences(text: string, maxChars = MAX_SENTENCE_CHARS): Sentence[] {
  if (text === "") return [];
  const flat = foldAstral(text);
  const pieces = mergeBlanks(flat, cutAtEnds(flat, naturalCuts(flat)), maxChars);
  return pieces.flatMap((piece) => forceCuts(text, flat, piece, maxChars));
}

function cutAtEnds(flat: string, cuts: readonly number[]): Sentence[] {
  const pieces: Sentence[] = [];
  let start = 0;
  for (const end of [...cuts, flat.length]) {
    if (end > start) pieces.push({ start, end, forced: false });
    start = Math.max(start, end);
  }
  return pieces;
}

const CUT = /\n[ \t\r]*\n|\n|[。．！？｡।]+["”’]*|[.!?…]+["'”’]*(?=\s|$)/g;

function naturalCuts(flat: string): number[] {
  const cuts = new Set<number>();
  for (const match of flat.matchAll(CUT)) {
    const end = match.index + match[0].length;
    if (match[0].startsWith(".") && isAbbreviation(flat, match.index, end)) continue;
    // A blank line is a cut behind its first newline, and again behind its second.
    if (match[0].startsWith("\n")) cuts.add(match.index + 1);
    cuts.add(end);
  }
  const ranges = joinRanges([...fences(flat), ...brackets(flat)]);
  let next = 0;
  return [...cuts]
    .sort((a, b) => a - b)
    .filter((cut) => {
      while ((ranges[next]?.[1] ?? Number.POSITIVE_INFINITY) <= cut) next++;
      return cut <= (ranges[next]?.[0] ?? Number.POSITIVE_INFINITY);
    });
}

/** Ascending and disjoint. Ranges that only touch stay two: the place between them may be cut. */
function joinRanges(ranges: readonly Range[]): Range[] {
  const joined: [number, number][] = [];
  for (const [start, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = joined[joined.length - 1];
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

type Range = readonly [start: number, end: number];

const FENCE = /^[ \t]*```[^\n]*(?:\n|$)(?:[\s\S]*?\n[ \t]*```[^\n]*(?:\n|$)|[\s\S]*$)/gm;

/** From a line that starts with three backticks to the end of the closing line, or of the text. */
function fences(flat: string): Range[] {
  if (!flat.includes("```")) return [];
  return Array.from(flat.matchAll(FENCE), (match) => [match.index, match.index + match[0].length]);
}

const OPENERS = "「『（([［【《〈";
const CLOSERS = "」』）)]］】》〉";
const BRACKET = /[「『（([［【《〈」』）)\]］】》〉]/g;

/** Closed brackets only. Longer ones protect nothing: they are strays, or no piece could hold them. */
function brackets(flat: string): Range[] {
  const open: { kind: number; at: number }[] = [];
  const counts = new Array<number>(OPENERS.length).fill(0);
  const ranges: Range[] = [];
  for (const { 0: mark, index } of flat.matchAll(BRACKET)) {
    const opened = OPENERS.indexOf(mark);
    if (opened >= 0) {
      open.push({ kind: opened, at: index });
      counts[opened] = (counts[opened] ?? 0) + 1;
      continue;
    }
    const kind = CLOSERS.indexOf(mark);
    // A stray closer closes nothing; openers inside a closed pair were never closed and count as absent.
    for (let found = (counts[kind] ?? 0) === 0; !found; ) {
      const opener = open.pop();
      if (opener === undefined) break;
      counts[opener.kind] = (counts[opener.kind] ?? 1) - 1;
      found = opener.kind === kind;
      if (found && index - opener.at < MAX_SENTENCE_CHARS) ranges.push([opener.at, index + 1]);
    }
  }
  return ranges;
}

/** Never the end of a sentence, whatever follows. */
const TITLES = new Set("mr mrs ms dr prof st sr jr vs e.g i.e cf approx".split(" "));
/** Not the end of a sentence before a number. */
const NUMBERED = new Set("no nos fig figs vol p pp eq sec ch art".split(" "));
/** The end of a sentence only before a capital. */
const SHORTENED = new Set(
  "etc a.m p.m inc ltd co corp u.s u.k jan feb mar apr jun jul aug sep sept oct nov dec dept est ext".split(
    " ",
  ),
);

/** A full stop that belongs to the word before it: an abbreviation, an initial, the number of a list item. */
function isAbbreviation(flat: string, stop: number, end: number): boolean {
  if (end !== stop + 1) return false;
  const before = /(^|[\s("'“‘[])([\p{L}\p{N}.]{1,7})$/u.exec(flat.slice(Math.max(0, stop - 12), stop));
  const word = before?.[2];
  if (word === undefined) return false;
  const next = flat.slice(end).match(/^\s+(\S)/)?.[1];
  if (next === undefined || flat.startsWith("\n", end)) return false;
  const lower = word.toLowerCase();
  if (TITLES.has(lower)) return true;
  if (NUMBERED.has(lower)) return /\p{N}/u.test(next);
  if (SHORTENED.has(lower)) return !/\p{Lu}/u.test(next);
  if (/^\p{Lu}$/u.test(word)) return word !== "I" && /\p{Lu}/u.test(next);
  return /^(?:\p{N}{1,3}|\p{Ll})$/u.test(word) && isLineStart(flat, stop - word.length);
}

function isLineStart(flat: string, at: number): boolean {
  return /(?:^|\n)[ \t]*$/.test(flat.slice(Math.max(0, at - 20), at));
}

/** A blank piece joins the next one, else the one before, as far as the length allows. */
function mergeBlanks(flat: string, pieces: readonly Sentence[], maxChars: number): Sentence[] {
  const merged: Sentence[] = [];
  let blankStart: number | null = null;
  for (const piece of pieces) {
    if (isBlank(flat, piece)) {
      blankStart ??= piece.start;
      continue;
    }
    const start: number = blankStart ?? piece.start;
    // Long blanks stay outside: forced cuts would part the sentence from its own beginning.
    if (piece.end - start > maxChars && start < piece.start)
      merged.push({ start, end: piece.start, forced: false }, piece);
    else merged.push({ ...piece, start });
    blankStart = null;
  }
  if (blankStart === null) return merged;
  const last = merged.pop();
  return [...merged, { start: last?.start ?? blankStart, end: flat.length, forced: false }];
}

function isBlank(flat: string, { start, end }: Sentence): boolean {
  return flat.slice(start, end).trim() === "";
}

function forceCuts(text: string, flat: string, piece: Sentence, maxChars: number): Sentence[] {
  const out: Sentence[] = [];
  let { start } = piece;
  while (piece.end - start > maxChars) {
    const end = forcedCut(text, flat, start, maxChars);
    out.push({ start, end, forced: true });
    start = end;
  }
  return [...out, { ...piece, start }];
}

/** Behind a line, a clause or a word of the window's second half; else anywhere but inside a grapheme. */
function forcedCut(text: string, flat: string, start: number, maxChars: number): number {
  const half = Math.ceil(maxChars / 2);
  const window = flat.slice(start, start + maxChars);
  for (const mark of [/\n(?=[^\n]*$)/, /[、，,;；:：](?=[^、，,;；:：]*$)/, /\s(?=\S*$)/]) {
    const at = window.search(mark);
    if (at >= half - 1) return start + at + 1;
  }
  const cut = graphemeStart(text, start, start + maxChars);
  return cut > start ? cut : start + maxChars;
}
