// Which words of a row a person should see first. For the eye only: ranking is the server's business.

const COMMON = new Set(
  (
    "a an and are as at be been but by can could did do does for from get had has have how i if in into is it its " +
    "me my no not now of on or our out so some that the their them then there they this to up us was we were what " +
    "when where which who whom whose why will with would you your"
  ).split(" "),
);

/** A part of a text that shares a word with the question. */
export interface Span {
  start: number;
  end: number;
}

/** Parts of `text` that share a word, a stem or two CJK characters with `query`, in order, not overlapping. */
export function matchSpans(text: string, query: string): Span[] {
  const parts = patternsOf(query);
  if (parts.length === 0) return [];
  const pattern = new RegExp(parts.join("|"), "giu");
  const spans: Span[] = [];
  for (const match of text.matchAll(pattern)) {
    const last = spans.at(-1);
    const end = match.index + match[0].length;
    if (last !== undefined && last.end === match.index && isCjk(match[0])) last.end = end;
    else spans.push({ start: match.index, end });
  }
  return spans;
}

function isCjk(text: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text);
}

function patternsOf(query: string): string[] {
  const patterns = new Set<string>();
  for (const word of query.match(/[\p{Script=Latin}\p{N}_]+/gu) ?? []) {
    const lower = word.toLowerCase();
    if (COMMON.has(lower) || (lower.length < 2 && !/\d/.test(lower))) continue;
    // "fixed" should also show "fix", "customers" also "customer": a long word matches by its beginning.
    const stem =
      lower.length >= 5 && /^[a-z]+$/.test(lower) ? lower.replace(/(?:ing|ed|es|s|ly|e)$/, "") : lower;
    patterns.add(stem === lower ? `\\b${lower}\\b` : `\\b${stem}[a-z]{0,4}\\b`);
  }
  // Kanji and katakana carry the sense; hiragana is mostly grammar.
  for (const run of query.match(/[\p{Script=Han}\p{Script=Katakana}ー々]{2,}/gu) ?? []) {
    const chars = [...run];
    patterns.add(run);
    for (let at = 0; at + 2 <= chars.length; at++) patterns.add(chars.slice(at, at + 2).join(""));
  }
  // Longest first, since the first alternative that fits wins.
  return [...patterns].sort((a, b) => b.length - a.length);
}

/** Where to begin showing a text of which only `chars` fit, so that most matched words are seen. */
export function bestStart(text: string, spans: readonly Span[], chars: number): number {
  let best = 0;
  let bestCount = 0;
  for (const span of [{ start: 0, end: 0 }, ...spans]) {
    const start = span.start < chars / 2 ? 0 : span.start;
    const count = spans.filter((other) => other.start >= start && other.end <= start + chars).length;
    if (count > bestCount) {
      bestCount = count;
      best = start;
    }
  }
  if (best === 0) return 0;
  // A little earlier, at the start of a word or sentence, so that the match does not stand at the very edge.
  const before = text.slice(Math.max(0, best - 24), best);
  const edge = Math.max(before.lastIndexOf(" "), before.lastIndexOf("。"), before.lastIndexOf("、"));
  return edge >= 0 ? best - before.length + edge + 1 : best;
}
