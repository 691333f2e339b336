// Answers as a person wants to read them. Returns text; prints nothing.

import { paint, printable, type Screen, wrap } from "../style.js";
import { bestStart, matchSpans, type Span } from "./matching.js";
import type { Answer, Row } from "./session.js";

/** What is known about the right answer, in the demo with the example notes. */
export interface Expectation {
  /** The id of the note that answers the question; null when no note does. */
  id: string | null;
}

const INDENT = "     ";

/** "3 months ago" for a stored timestamp, or an empty text when it is no date. */
function age(timestamp: string, now: Date): string {
  const time = Date.parse(timestamp);
  if (Number.isNaN(time)) return "";
  const days = (time - now.getTime()) / 86_400_000;
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const size = Math.abs(days);
  if (size < 1 / 24) return days <= 0 ? "just now" : "within the hour";
  if (size < 1) return format.format(Math.round(days * 24), "hour");
  if (size < 14) return format.format(Math.round(days), "day");
  if (size < 60) return format.format(Math.round(days / 7), "week");
  if (size < 700) return format.format(Math.round(days / 30.44), "month");
  return format.format(Math.round(days / 365.25), "year");
}

/** One row: rank, score and date on a line, then up to `maxLines` of its text with the matched words marked. */
function renderRow(row: Row, rank: number, query: string, screen: Screen, now: Date, maxLines = 2): string[] {
  const reason = row.match_reason;
  const facts = [
    reason?.score === undefined ? undefined : `${reason.signal} ${reason.score.toFixed(4)}`,
    reason?.cosine === undefined || reason.signal === "cosine"
      ? undefined
      : `cosine ${reason.cosine.toFixed(2)}`,
    row.timestamp === undefined ? undefined : whenOf(row.timestamp, now),
    row.id === undefined ? row.ref : printable(row.id.replace(/#[0-9a-f]{12}$/, "")),
  ].filter((fact) => fact !== undefined);
  const head = `${String(rank).padStart(3)}. ${paint(screen, "dim", facts.join(" · "))}`;
  return [head, ...bodyLines(row.content, query, screen, maxLines)];
}

function whenOf(timestamp: string, now: Date): string {
  const passed = age(timestamp, now);
  return passed === "" ? printable(timestamp) : `${timestamp.slice(0, 10)} (${passed})`;
}

function bodyLines(content: string, query: string, screen: Screen, maxLines: number): string[] {
  // The title of a note stands on its own line; on one line it needs something between.
  const text = printable(content.replace(/\n[ \t]*\n/, " — "));
  const columns = screen.columns - INDENT.length;
  const wide = /[\u3000-\u9fff\uff00-\uff60]/.test(text);
  const room = Math.floor((columns * maxLines) / (wide ? 1.7 : 1)) - 2;
  const spans = matchSpans(text, query);
  // Never later than needed to fill the lines.
  const start = wordStart(text, Math.min(bestStart(text, spans, room), Math.max(0, text.length - room)));
  const lines = wrap(`${start > 0 ? "… " : ""}${text.slice(start)}`, columns, maxLines);
  return lines.map((line) => `${INDENT}${marked(line, matchSpans(line, query), screen)}`);
}

/** `at`, moved back to the beginning of the Latin word or surrogate pair that it would cut. */
function wordStart(text: string, at: number): number {
  const cut = /[\w'’-]{1,24}$/.exec(text.slice(0, at));
  if (at > 0 && cut !== null && /^[\w'’-]/.test(text.slice(at))) return at - cut[0].length;
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 ? at - 1 : at;
}

function marked(line: string, spans: readonly Span[], screen: Screen): string {
  let shown = "";
  let from = 0;
  for (const span of spans) {
    shown += line.slice(from, span.start) + paint(screen, "bold", line.slice(span.start, span.end));
    from = span.end;
  }
  return shown + line.slice(from);
}

/** A question with its rows, best first, at most `shown` of them plus the expected one. */
export function renderAnswer(
  question: string,
  answer: Answer,
  options: { screen: Screen; now: Date; shown: number; expected?: Expectation },
): string {
  const { screen, now, shown, expected } = options;
  const lines = [`${paint(screen, "cyan", "?")} ${paint(screen, "bold", printable(question))}`];
  const place = placeOf(answer, expected);
  if (answer.rows.length === 0) lines.push(`${INDENT}Nothing known about this.`);
  answer.rows.forEach((row, index) => {
    if (index < shown || index === place) lines.push(...renderRow(row, index + 1, question, screen, now));
  });
  const time = paint(screen, "dim", `${answer.ms.toFixed(1)} ms`);
  lines.push(
    `${INDENT}${[verdict(answer, expected, place, screen), time].filter((part) => part !== "").join(" · ")}`,
  );
  return `${lines.join("\n")}\n\n`;
}

/** Index of the expected row, or -1. */
export function placeOf(answer: Answer, expected: Expectation | undefined): number {
  if (expected?.id === undefined || expected.id === null) return -1;
  return answer.rows.findIndex((row) => row.id === expected.id);
}

function verdict(answer: Answer, expected: Expectation | undefined, place: number, screen: Screen): string {
  if (expected === undefined) return "";
  if (expected.id === null) {
    return answer.rows.length === 0
      ? paint(screen, "green", "✓ right: no note says so")
      : paint(screen, "yellow", "✗ no note says so, rows came back all the same");
  }
  if (place === 0) return paint(screen, "green", "✓ the expected note is first");
  if (place > 0) return paint(screen, "yellow", `~ the expected note is number ${place + 1}`);
  return paint(screen, "red", "✗ the expected note is not among the rows");
}
