// What of a long text can be shown on its own: sentences with what limits them, lines, headings with what they
// head. A pure function of the text; offsets are code points.

import { foldAstral, type Span } from "./characters.js";
import { startsWithQualifier } from "./qualifiers.js";
import { MAX_SENTENCE_CHARS, splitSentences } from "./sentences.js";

/** A line of a conversation, a list or a short paragraph is shown whole up to this length. */
const MAX_LINE_CHARS = 400;
/** Sentences of longer lines are put together up to this length. */
const MAX_SENTENCES_CHARS = 200;

/** Passages of at most `maxChars`, which partition the text. */
export function excerptSpans(text: string, maxChars: number): Span[] {
  const flat = foldAstral(text);
  const pieces = splitSentences(text, Math.min(maxChars, MAX_SENTENCE_CHARS));
  return joinLines(flat, governingSpans(flat, pieces, maxChars), maxChars);
}

/**
 * Pieces with what governs them, as one span each: a sentence and the qualifiers behind it, a heading and what
 * it heads, a sentence that goes on in the next line. A span that would be longer than `maxChars` ends before,
 * so that no chain of sentences runs away.
 */
export function governingSpans(text: string, pieces: readonly Span[], maxChars: number): Span[] {
  const spans: { start: number; end: number }[] = [];
  for (const { start, end } of pieces) {
    const open = spans[spans.length - 1];
    const isGoverned =
      open !== undefined && governs(text.slice(open.start, open.end), text.slice(start, end));
    if (isGoverned && end - open.start <= maxChars) open.end = end;
    else spans.push({ start, end });
  }
  return spans;
}

function governs(before: string, next: string): boolean {
  if (startsWithQualifier(next)) return true;
  const lastLine = before.trimEnd().split("\n").pop() ?? "";
  if (isHeading(lastLine)) return true;
  return (
    !endsSentence(before) &&
    /^[ \t]*\p{Ll}/u.test(next) &&
    !isListItem(next) &&
    !/\n\s*\n/.test(next.slice(0, 3))
  );
}

/** `# Title`, `**Title**`, and short lines that end with a colon. */
function isHeading(line: string): boolean {
  return /^\s*(?:#{1,6}\s|\*\*[^*]+\*\*\s*$)/.test(line) || (line.length <= 80 && /[:：]\s*$/.test(line));
}

function isListItem(line: string): boolean {
  return /^\s*(?:[-*+•・]|\(?[\p{N}a-z]{1,3}[.)])\s/u.test(line);
}

function endsSentence(text: string): boolean {
  return /[。．！？｡।.!?…]["'”’」』)）]*$/.test(text.trimEnd());
}

/** Spans of one line become one passage as far as its length allows. */
function joinLines(flat: string, spans: readonly Span[], maxChars: number): Span[] {
  const passages: { start: number; end: number }[] = [];
  for (const line of linesOf(flat, spans)) {
    const length = (line[line.length - 1]?.end ?? 0) - (line[0]?.start ?? 0);
    const most = Math.min(maxChars, length <= MAX_LINE_CHARS ? MAX_LINE_CHARS : MAX_SENTENCES_CHARS);
    for (const [i, { start, end }] of line.entries()) {
      const open = passages[passages.length - 1];
      if (i > 0 && open !== undefined && end - open.start <= most) open.end = end;
      else passages.push({ start, end });
    }
  }
  return passages;
}

/** Runs of spans with no newline between them. */
function linesOf(flat: string, spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [];
  for (const span of spans) {
    const line = lines[lines.length - 1];
    const before = line?.[line.length - 1];
    const isNew =
      before === undefined || /\n\s*$/.test(tail(flat, before)) || /^\s*\n/.test(head(flat, span));
    if (isNew) lines.push([span]);
    else line?.push(span);
  }
  return lines;
}

function tail(flat: string, { start, end }: Span): string {
  return flat.slice(Math.max(start, end - 40), end);
}

function head(flat: string, { start, end }: Span): string {
  return flat.slice(start, Math.min(end, start + 40));
}
