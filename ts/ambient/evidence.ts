// How much a row has to do with a prompt: the share of its words that the row holds, how surprising it would
// be to find that many by accident, and its cosine.

import { cutChars, isAscii } from "../text/characters.js";
import { normaliseText } from "../text/normalise.js";
import { isSpaceless } from "../text/scripts.js";
import { TermMatcher } from "../text/term-matcher.js";

/** A word of the prompt: one term, or the overlapping pairs of a run of characters without blanks. */
export interface PromptWord {
  readonly terms: readonly string[];
  /** how rare its rarest term is, in nats */
  readonly weight: number;
}

export interface PromptWords {
  readonly words: readonly PromptWord[];
  readonly total: number;
  /** finds the terms of all words in a text */
  readonly matcher: TermMatcher;
  /** records of the store */
  readonly records: number;
}

/**
 * Stands for the language behind a small store: 100 texts, each term in one of them. So the words of the very
 * first memory count as rare, and a term of every row of a large store as common.
 */
const BACKGROUND_TEXTS = 100;
const BACKGROUND_ROWS = 1;

/** Runs of one script that the tokeniser cuts into pairs: a word of Katakana or a compound of kanji. */
const RUNS =
  /[\p{Script=Katakana}ー]+|[\p{Script=Han}々〆]+|\p{Script=Hiragana}+|\p{Script=Hangul}+|[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** `subject` is the text that the terms stand in. */
export function weighPrompt(
  terms: readonly string[],
  subject: string,
  frequencies: ReadonlyMap<string, number>,
  records: number,
): PromptWords {
  const weightOf = (term: string): number =>
    Math.log(
      (records + BACKGROUND_TEXTS) / (Math.min(frequencies.get(term) ?? 0, records) + BACKGROUND_ROWS),
    );
  const words = groupTerms(terms, subject).map((group) => ({
    terms: group,
    weight: Math.max(...group.map(weightOf)),
  }));
  const total = words.reduce((sum, { weight }) => sum + weight, 0);
  return { words, total, matcher: new TermMatcher(words.flatMap((word) => word.terms)), records };
}

/** Pairs inside one run belong to one word: as separate witnesses they would all say the same. */
function groupTerms(terms: readonly string[], subject: string): string[][] {
  const open = new Set(terms);
  const groups: string[][] = [];
  const plain = normaliseText(subject);
  for (const [run] of isAscii(plain) ? [] : plain.matchAll(RUNS)) {
    const chars = Array.from(run);
    const group: string[] = [];
    for (let i = 0; i < chars.length; i++) {
      for (const term of [`${chars[i]}${chars[i + 1] ?? ""}`, chars[i] ?? ""]) {
        if (open.delete(term)) group.push(term);
      }
    }
    if (group.length > 0) groups.push(group);
  }
  // A pair across two scripts is no word: ト選 of スロット選択.
  const rest = Array.from(open).filter((term) => groups.length === 0 || !isSpaceless(term));
  return [...groups, ...rest.map((term) => [term])];
}

export interface Evidence {
  /** share of the prompt's weight that the row holds, 0 to 1 */
  readonly coverage: number;
  /**
   * nats: how far the row's share of the words is beyond what the best of all rows would hold by accident;
   * negative when it is not
   */
  readonly surprise: number;
  /** words of the prompt that the row holds */
  readonly held: number;
  /** calibrated cosine; null without a vector */
  readonly level: number | null;
}

/** A long text holds many words by accident: its start has to do. */
const MAX_LOOKED_CHARS = 4000;

export function evidenceOf(text: string, level: number | null, prompt: PromptWords): Evidence {
  const held = prompt.matcher.match(cutChars(text, MAX_LOOKED_CHARS));
  let covered = 0;
  let count = 0;
  for (const { terms, weight } of prompt.words) {
    const found = terms.filter((term) => held.has(term));
    const share = found.length / terms.length;
    covered += weight * share;
    count += share;
  }
  const coverage = prompt.total > 0 ? covered / prompt.total : 0;
  if (count === 0) return { coverage, surprise: Number.NEGATIVE_INFINITY, held: 0, level };
  const surprise = covered - Math.log(prompt.records + 1) - lnChoose(prompt.words.length, count);
  return { coverage, surprise, held: count, level };
}

/** ln of the number of ways to choose `k` of `n`, for real `k`. */
function lnChoose(n: number, k: number): number {
  if (k <= 0 || k >= n) return 0;
  return lnFactorial(n) - lnFactorial(k) - lnFactorial(n - k);
}

/** Stirling's series; small values are shifted up, where it is exact to five digits. */
function lnFactorial(x: number): number {
  const y = x + 1;
  if (y < 7) return lnFactorial(x + 1) - Math.log(y);
  return (y - 0.5) * Math.log(y) - y + 0.9189385332046727 + 1 / (12 * y);
}
