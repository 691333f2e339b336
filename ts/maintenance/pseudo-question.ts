// Questions made of records, and which rows have nothing to do with them: what calibration asks a store.

import type { Memory } from "../domain/memory.js";
import { coverage, weighWords } from "../recall/coverage.js";
import { charSlicer, cutChars } from "../text/characters.js";
import { splitSentences } from "../text/sentences.js";
import { contentTerms, indexTerms } from "../text/tokenise.js";

/** About the length of a question. */
const QUESTION_CHARS = 80;
/** A question is taken from the head of a record; a long one has enough sentences there. */
const HEAD_CHARS = 1000;
/** Texts that hold less than this share of the question's rare words have nothing to do with it. */
const UNRELATED_COVERAGE = 0.15;

export interface Scored {
  readonly id: number;
  readonly cosine: number;
}

/** Remembers what it has counted and read, since the same words and rows come up again and again. */
export class PseudoQuestions {
  readonly #records: number;
  readonly #countTerms: (terms: readonly string[]) => Map<string, number>;
  readonly #read: (ids: readonly number[]) => readonly Memory[];
  readonly #frequencies = new Map<string, number>();
  readonly #terms = new Map<number, ReadonlySet<string>>();

  constructor(
    records: number,
    countTerms: (terms: readonly string[]) => Map<string, number>,
    read: (ids: readonly number[]) => readonly Memory[],
  ) {
    this.#records = records;
    this.#countTerms = countTerms;
    this.#read = read;
  }

  /** The sentence of the record that holds its rarest word, cut to the length of a question; "" for none. */
  questionOf(content: string): string {
    const head = cutChars(content, HEAD_CHARS);
    const slice = charSlicer(head);
    const sentences = splitSentences(head).map(({ start, end }) => slice(start, end).trim());
    const rarity = sentences.map((sentence) => this.#rarestCount(sentence));
    const best = rarity.indexOf(Math.min(...rarity));
    return cutChars(sentences[best] ?? "", QUESTION_CHARS);
  }

  #rarestCount(sentence: string): number {
    const counts = this.#count(contentTerms(sentence));
    return Math.min(Number.MAX_VALUE, ...counts.values());
  }

  #count(terms: readonly string[]): Map<string, number> {
    const unknown = terms.filter((term) => !this.#frequencies.has(term));
    for (const [term, count] of this.#countTerms(unknown)) this.#frequencies.set(term, count);
    return new Map(terms.map((term) => [term, this.#frequencies.get(term) ?? 0]));
  }

  /** The rows that hold hardly any of the question's words, in their order, at most `limit`. */
  unrelated(question: string, rows: readonly Scored[], limit: number): Scored[] {
    const terms = contentTerms(question);
    const words = weighWords(terms, this.#count(terms), this.#records);
    const out: Scored[] = [];
    for (const row of rows) {
      if (out.length >= limit) break;
      if (coverage(this.#termsOf(row.id), words) < UNRELATED_COVERAGE) out.push(row);
    }
    return out;
  }

  #termsOf(id: number): ReadonlySet<string> {
    const known = this.#terms.get(id);
    if (known !== undefined) return known;
    const terms = new Set(indexTerms(this.#read([id])[0]?.content ?? ""));
    this.#terms.set(id, terms);
    return terms;
  }
}
