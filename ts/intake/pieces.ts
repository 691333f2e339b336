// Cuts and packs text by code points. Knows nothing about Markdown or files.

import { countChars, cutChars } from "../text/characters.js";
import { splitSentences } from "../text/sentences.js";

/** Places to cut at, best first: between paragraphs and lines, else between sentences, clauses, words. */
const LINES = [/\n[ \t]*\n/g, /\n/g];
const WORDS = [/[,;:]\s|[、，；]/g, /\s/g];

/**
 * Pieces of at most `maxChars` code points, cut at the best place in the last two thirds of each piece.
 * Surrounding blank space of a piece is dropped; no text is lost.
 */
export function splitText(text: string, maxChars: number): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = start + cutChars(text.slice(start, start + 2 * maxChars), maxChars).length;
    if (end < text.length) end = start + bestCut(text.slice(start, end));
    const piece = text.slice(start, end).trim();
    if (piece !== "") pieces.push(piece);
    // The blanks between two sentences belong to neither.
    start = text.length - text.slice(end).trimStart().length;
  }
  return pieces;
}

function bestCut(window: string): number {
  const earliest = Math.floor(window.length / 3);
  const found =
    lastCut(window, LINES, earliest) ?? lastSentenceEnd(window, earliest) ?? lastCut(window, WORDS, earliest);
  return found ?? window.length;
}

function lastCut(window: string, cuts: readonly RegExp[], earliest: number): number | null {
  for (const cut of cuts) {
    let last = 0;
    for (const match of window.matchAll(cut)) last = match.index + match[0].length;
    if (last > earliest) return last;
  }
  return null;
}

function lastSentenceEnd(window: string, earliest: number): number | null {
  const ends = splitSentences(window, Number.POSITIVE_INFINITY).slice(0, -1);
  const last = cutChars(window, ends[ends.length - 1]?.end ?? 0).length;
  return last > earliest ? last : null;
}

/** Joins neighbours while they stay within `maxChars`; a longer block stays alone. */
export function packBlocks(blocks: readonly string[], maxChars: number, joiner = "\n\n"): string[] {
  const packed: string[] = [];
  let current = "";
  let size = 0;
  for (const block of blocks) {
    const chars = countChars(block);
    if (current !== "" && size + joiner.length + chars > maxChars) {
      packed.push(current);
      current = "";
      size = 0;
    }
    size += (current === "" ? 0 : joiner.length) + chars;
    current = current === "" ? block : `${current}${joiner}${block}`;
  }
  if (current !== "") packed.push(current);
  return packed;
}

/** Columns on a screen, counting East Asian wide characters twice: a fair measure of how much a text says. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) width += charWidth(char.codePointAt(0) ?? 0);
  return width;
}

/** 0 for marks and controls, 2 for East Asian wide characters and emoji, else 1. */
export function charWidth(point: number): 0 | 1 | 2 {
  if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return 0;
  if (point < 0x300) return 1;
  if (point <= 0x36f || point === 0x200b || point === 0x200c || point === 0x200d) return 0;
  if ((point >= 0xfe00 && point <= 0xfe0f) || point === 0x3099 || point === 0x309a) return 0;
  if (
    (point >= 0x1100 && point <= 0x115f) ||
    (point >= 0x2e80 && point <= 0x303e) ||
    (point >= 0x3041 && point <= 0xa4cf) ||
    (point >= 0xa960 && point <= 0xa97f) ||
    (point >= 0xac00 && point <= 0xd7a3) ||
    (point >= 0xf900 && point <= 0xfaff) ||
    (point >= 0xfe30 && point <= 0xfe6f) ||
    (point >= 0xff00 && point <= 0xff60) ||
    (point >= 0xffe0 && point <= 0xffe6) ||
    (point >= 0x1f300 && point <= 0x1f64f) ||
    (point >= 0x1f680 && point <= 0x1f6ff) ||
    (point >= 0x1f900 && point <= 0x1faff) ||
    (point >= 0x20000 && point <= 0x3fffd)
  ) {
    return 2;
  }
  return 1;
}
