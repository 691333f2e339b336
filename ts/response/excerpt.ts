// The passages that answer, for a row whose text the preview cuts: best first into the room there is, shown in
// the order of the text. Nothing that the preview shows is repeated.

import type { RowPassages, ScoredPassage } from "../recall/candidate.js";
import { charSlicer, countChars, cutChars } from "../text/characters.js";

const GAP = " … ";
/**
 * Passages below this share of the row's best say nothing about it and cost the reader their length. LoCoMo, 800
 * characters: 85.0 % of the evidence in 698 characters a row; without the floor 85.6 % in 776.
 */
const WEAK_SHARE = 0.15;

/**
 * At most `maxChars` characters of `text`, "" when nothing is to be shown. Stretches of the text in its order,
 * joined by ` … ` where text is left out between them.
 */
export function cutExcerpt(
  text: string,
  { basis, passages }: RowPassages,
  { previewChars, maxChars }: { readonly previewChars: number; readonly maxChars: number },
): string {
  if (basis === "start") return cutChars(text, maxChars).trim();
  const slice = charSlicer(text);
  const shown = choose(slice, cutChars(text, previewChars), passages, maxChars);
  const stretches: { start: number; end: number }[] = [];
  for (const [i, { start, end }] of passages.entries()) {
    if (!shown.has(i)) continue;
    const last = stretches[stretches.length - 1];
    if (last?.end === start) last.end = end;
    else stretches.push({ start, end });
  }
  return stretches.map(({ start, end }) => slice(start, end).trim()).join(GAP);
}

/** Positions of the passages to show. One that does not fit makes room for the next best that does. */
function choose(
  slice: (start: number, end: number) => string,
  preview: string,
  passages: readonly ScoredPassage[],
  maxChars: number,
): Set<number> {
  const previewEnd = countChars(preview);
  const order = passages
    .map(({ score }, i) => ({ score, i }))
    .filter(({ i }) => (passages[i]?.end ?? 0) > previewEnd)
    .sort((a, b) => b.score - a.score || a.i - b.i);
  // The best may be in the preview; then what is behind it has to be worth something beside it.
  const floor = WEAK_SHARE * Math.max(...passages.map(({ score }) => score));
  const chosen = new Set<number>();
  const seen = new Set<string>();
  let used = 0;
  for (const { i, score } of order) {
    if (chosen.size > 0 && (score < floor || floor <= 0)) break;
    const { start, end } = passages[i] as ScoredPassage;
    const isTouching = chosen.has(i - 1) || chosen.has(i + 1);
    const cost = end - start + (chosen.size === 0 || isTouching ? 0 : GAP.length);
    if (used + cost > maxChars) continue;
    const part = slice(start, end).trim();
    // Logs and templates repeat themselves; the reader has the line already.
    if (part === "" || seen.has(part) || preview.includes(part)) continue;
    seen.add(part);
    chosen.add(i);
    used += cost;
  }
  const [first] = order;
  // A row that is cut always shows some more, even where its text only repeats itself.
  return chosen.size > 0 || first === undefined ? chosen : new Set([first.i]);
}
