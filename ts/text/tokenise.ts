// Text -> search terms: one tokenisation for what is indexed and for what is asked.
// Latin words are folded and stemmed, identifiers give their parts and themselves, scripts that write no
// spaces give bigrams. FTS5 then only splits at blanks.

import { stemmer } from "stemmer";
import { countChars, isAscii } from "./characters.js";
import { isIdentifier } from "./identifiers.js";
import { foldWord, normaliseText } from "./normalise.js";
import { isSpaceless, SPACELESS } from "./scripts.js";
import { FUNCTION_GRAMS, FUNCTION_WORDS, PARTICLES } from "./stop-words.js";

/** One term of a text. */
export interface Term {
  /** as it stands in the words index; holds no blank */
  readonly text: string;
  /** false for function words and particles, which alone never make a keyword hit */
  readonly content: boolean;
}

const RUN = new RegExp(
  `(?<spaceless>[${SPACELESS}]+)|(?<hangul>\\p{Script=Hangul}+)|(?<word>[[\\p{L}\\p{N}\\p{M}_]--[${SPACELESS}\\p{Script=Hangul}]]+(?:[.\\-\\/:@#'’+&\\\\]+[[\\p{L}\\p{N}\\p{M}_]--[${SPACELESS}\\p{Script=Hangul}]]+)*(?:\\+\\+|#)?)`,
  "gv",
);

/** The same for ASCII: a process that answers one prompt would pay 3 ms for compiling the one above. */
const ASCII_RUN = /(?<word>[A-Za-z0-9_]+(?:[.\-/:@#'+&\\]+[A-Za-z0-9_]+)*(?:\+\+|#)?)/g;

/** Longer runs are keys, hashes or noise; FTS5 stems and stores nothing useful beyond this. */
const MAX_TERM_CHARS = 64;

/** All terms of a stored text, repeated as often as they occur (frequency counts in BM25). */
export function indexTerms(text: string): string[] {
  const out: string[] = [];
  for (const run of runs(text)) {
    if (run.kind === "word") for (const term of wordTerms(run.text)) out.push(term.text);
    else out.push(...bigrams(run.text, true));
  }
  return out;
}

/** The distinct terms of a query, in order. A lone character asks for a prefix, see `isPrefixTerm`. */
export function queryTerms(query: string): Term[] {
  const seen = new Map<string, Term>();
  const add = (term: Term): void => {
    const known = seen.get(term.text);
    if (known === undefined || (term.content && !known.content)) seen.set(term.text, term);
  };
  for (const run of runs(query)) {
    if (run.kind === "word") for (const term of wordTerms(run.text)) add(term);
    else for (const gram of bigrams(run.text, false)) add({ text: gram, content: isContentGram(gram) });
  }
  return [...seen.values()];
}

/** The distinct content terms of a query, in order: what is searched for and what counts as evidence. */
export function contentTerms(query: string): string[] {
  return queryTerms(query)
    .filter((term) => term.content)
    .map((term) => term.text);
}

/** A single character of a spaceless script stands for every term that starts with it. */
export function isPrefixTerm(term: string): boolean {
  // Two units at most: most terms need no class.
  return term.length <= 2 && countChars(term) === 1 && isSpaceless(term);
}

/**
 * Folded stretches of a query that may occur inside longer words: what the substring index is asked for.
 * At least three characters each, or the trigram index cannot hold them.
 */
export function substringTerms(query: string): string[] {
  const seen = new Set<string>();
  for (const run of runs(query)) {
    const folded = foldWord(run.text);
    if (Array.from(folded).length >= 3 && !FUNCTION_WORDS.has(folded)) seen.add(folded);
  }
  return [...seen];
}

/** An identifier in a query: folded as it stands in a text, and its term in the words index. */
export interface Identifier {
  readonly name: string;
  readonly term: string;
}

/** The distinct exact identifiers of a query, in order; see `isIdentifier`. */
export function queryIdentifiers(query: string): Identifier[] {
  const found = new Map<string, Identifier>();
  for (const run of runs(query)) {
    const word = withoutContraction(run.text);
    if (run.kind !== "word" || !isIdentifier(word)) continue;
    const name = foldWord(word);
    found.set(name, { name, term: isOnePiece(name) ? wordTerm(name).text : clip(name) });
  }
  return [...found.values()];
}

/**
 * The folded words of a text as they stand there. `zq0x1` is one of `host:zq0x1` and of `/dev/zq0x1`, and none of
 * `zq0x1-old`, which is another name.
 */
export function wholeWords(text: string): Set<string> {
  const words = new Set<string>();
  for (const run of runs(text)) {
    const word = foldWord(withoutContraction(run.text));
    words.add(word);
    for (const part of word.split(/[/\\:@#&]+/)) words.add(part);
  }
  return words;
}

function withoutContraction(run: string): string {
  return run.replace(/['’](?:s|t|d|m|ll|re|ve)$/i, "");
}

interface Run {
  readonly kind: "word" | "spaceless";
  readonly text: string;
}

function* runs(text: string): Generator<Run> {
  const normal = normaliseText(text);
  for (const match of normal.matchAll(isAscii(normal) ? ASCII_RUN : RUN)) {
    const word = match.groups?.["word"];
    yield word === undefined ? { kind: "spaceless", text: match[0] } : { kind: "word", text: word };
  }
}

/**
 * Adjacent pairs. The stored form also keeps the last character alone, so that a prefix search for one
 * character finds it at the end of a run too.
 */
function bigrams(run: string, stored: boolean): string[] {
  const chars = Array.from(run);
  const out: string[] = [];
  for (let i = 0; i + 1 < chars.length; i++) out.push(`${chars[i]}${chars[i + 1]}`);
  const last = chars[chars.length - 1];
  if (last !== undefined && (stored || chars.length === 1)) out.push(last);
  return out;
}

const HIRAGANA = /^\p{Script=Hiragana}$/u;

/** A pair counts as a word when it is no mere particle joint: 東京, 晴れ, サー; not は晴, です, 気は. */
function isContentGram(gram: string): boolean {
  const [first = "", second = ""] = Array.from(gram);
  if (!HIRAGANA.test(first)) return !PARTICLES.has(second);
  return (
    HIRAGANA.test(second) && !FUNCTION_GRAMS.has(gram) && !PARTICLES.has(first) && !PARTICLES.has(second)
  );
}

/** Has one part, whatever it is: most words and numbers. */
const PLAIN_WORD = /^(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]+)$/;
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+|[\p{L}\p{M}]+/gu;

const CONNECTORS = /[.\-/:@#'’+&\\_]+/;

function isOnePiece(word: string): boolean {
  return !CONNECTORS.test(word);
}

/** Terms of one run of letters, digits and connectors: its parts stemmed, and the whole when it has several. */
function wordTerms(run: string): Term[] {
  const out: Term[] = [];
  const pieces = run.split(CONNECTORS).filter((piece) => piece !== "");
  for (const [i, piece] of pieces.entries()) {
    if (i > 0 && isContraction(run, piece)) continue;
    const folded = foldWord(piece);
    out.push(wordTerm(folded));
    const parts = PLAIN_WORD.test(piece) ? [] : (piece.match(PART) ?? []);
    if (parts.length > 1) for (const part of parts) if (part.length > 1) out.push(wordTerm(foldWord(part)));
  }
  const whole = foldWord(run);
  if (whole !== pieces.map(foldWord).join("") && !/['’]/.test(whole))
    out.push({ text: clip(whole), content: true });
  return out;
}

/** The tail of don't, Kei's, we've: it carries no meaning of its own. */
function isContraction(run: string, piece: string): boolean {
  return /['’]/.test(run) && /^(?:s|t|d|m|ll|re|ve)$/i.test(piece);
}

function wordTerm(folded: string): Term {
  const content = !FUNCTION_WORDS.has(folded);
  const text = /^[a-z]{3,}$/.test(folded) ? stemmer(folded) : folded;
  return { text: clip(text), content };
}

function clip(text: string): string {
  return text.length <= MAX_TERM_CHARS ? text : Array.from(text).slice(0, MAX_TERM_CHARS).join("");
}
