// Which terms of a query a text holds, without tokenising the whole text: only the words around a possible hit
// are. The answer is the same as looking into `indexTerms`.

import { foldText, normaliseText } from "./normalise.js";
import { isSpaceless } from "./scripts.js";
import { indexTerms } from "./tokenise.js";

interface Needle {
  readonly term: string;
  /** occurs in every text that holds the term */
  readonly root: string;
  /** the root's presence is the term's */
  readonly isExact: boolean;
}

/** Words are longer than this only in keys and hashes. */
const MAX_WORD_CHARS = 64;

export class TermMatcher {
  readonly #needles: readonly Needle[];
  /** terms of words that were met already */
  readonly #known = new Map<string, readonly string[]>();

  /** `substrings` are stretches that may stand inside longer words, see `substringTerms`. */
  constructor(terms: readonly string[], substrings: readonly string[] = []) {
    this.#needles = [
      ...terms.map(needleOf),
      ...substrings.map((term) => ({ term, root: term, isExact: true })),
    ];
  }

  match(text: string): Set<string> {
    const plain = normaliseText(text);
    const folded = foldText(text);
    // Case tells the parts of identifiers apart, so words are read from the text as written.
    const isParallel = folded.length === plain.length;
    const all = isParallel ? null : new Set(indexTerms(text));
    const found = new Set<string>();
    for (const needle of this.#needles) {
      const { term, root, isExact } = needle;
      const isHeld = isExact
        ? folded.includes(root)
        : (all?.has(term) ?? this.#holdsWord(plain, folded, needle));
      if (isHeld) found.add(term);
    }
    return found;
  }

  #holdsWord(plain: string, folded: string, { term, root }: Needle): boolean {
    for (let at = folded.indexOf(root); at >= 0; ) {
      const [start, end] = wordAround(folded, at, root.length);
      if (this.#termsOf(plain.slice(start, end)).includes(term)) return true;
      at = folded.indexOf(root, end);
    }
    return false;
  }

  #termsOf(word: string): readonly string[] {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const terms = indexTerms(word);
    this.#known.set(word, terms);
    return terms;
  }
}

/** A stem may differ from its word in the last letter (`happi`, `sensibl`), and is else its beginning. */
function needleOf(term: string): Needle {
  if (isSpaceless(term)) return { term, root: term, isExact: true };
  return { term, root: term.length > 2 ? term.slice(0, -1) : term, isExact: false };
}

/** From blank to blank. */
function wordAround(text: string, at: number, length: number): [start: number, end: number] {
  let start = at;
  while (start > 0 && at - start < MAX_WORD_CHARS && !isBlank(text, start - 1)) start--;
  let end = at + length;
  while (end < text.length && end - at < MAX_WORD_CHARS && !isBlank(text, end)) end++;
  return [start, end];
}

function isBlank(text: string, i: number): boolean {
  const unit = text.charCodeAt(i);
  return unit <= 0x20 || unit === 0xa0 || unit === 0x3000;
}
