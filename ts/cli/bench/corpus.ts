// Texts for the end-to-end benchmark: made-up words by Zipf's law, every tenth row Japanese, all seeded.

import { seededRandom } from "../../maintenance/separation.js";

const SYLLABLES =
  "ba be bi bo da de di do fa fe ga go ha ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe ra re ri ro sa se si so ta te ti to va ve wa zo".split(
    " ",
  );
const JAPANESE = [
  "会議",
  "東京",
  "予算",
  "設計",
  "検索",
  "記憶",
  "障害",
  "移行",
  "契約",
  "採用",
  "試験",
  "納期",
];
const VOCABULARY = 6000;

/** The agent whose rows they are, on every side. */
export const AGENT = "bench";

/** What a client tells of a row, beside its id. */
export interface Message {
  readonly content: string;
  readonly source: Readonly<Record<string, string>>;
  readonly timestamp: string;
}

export interface Corpus {
  /** text of row `i` */
  text(i: number): string;
  /** queries by kind; runs that are not measured lie below 0 */
  readonly queries: Readonly<Record<QueryKind, (run: number) => string>>;
}

export type QueryKind = "six common words" | "one rare word" | "forty words" | "two characters" | "empty";

export function makeCorpus(seed: number): Corpus {
  const random = seededRandom(seed);
  const words = Array.from({ length: VOCABULARY }, () => word(random));
  // Numbers of its own for each text: whoever asks for it, in whatever order, gets the same.
  const draw = (kind: number, i: number): Draw =>
    new Draw(words, seededRandom(Math.imul(seed + kind, 0x9e3779b1) + i));
  return {
    text: (i) => draw(0, i).row(i),
    queries: {
      "six common words": (run) => draw(1, run).sentence(6),
      "one rare word": (run) => draw(2, run).rareWord(),
      "forty words": (run) => draw(3, run).sentence(40),
      "two characters": (run) => draw(4, run).japanese(),
      empty: () => "",
    },
  };
}

export function messageOf(corpus: Corpus, i: number): Message {
  return { content: corpus.text(i), source: { type: "User", id: "u" }, timestamp: "2026-01-01T00:00:00Z" };
}

class Draw {
  readonly #words: readonly string[];
  readonly #random: () => number;

  constructor(words: readonly string[], random: () => number) {
    this.#words = words;
    this.#random = random;
  }

  row(i: number): string {
    if (i % 10 !== 9) return `${this.sentence(12 + this.#below(48))} ${i}`;
    const [a, b, c, d] = [this.japanese(), this.japanese(), this.japanese(), this.japanese()];
    return `${a}の件は来週の${b}で決める。${c}を終えたら${d}に進む。${i}`;
  }

  /** By Zipf's law. */
  sentence(length: number): string {
    const rank = (): number => Math.min(VOCABULARY - 1, Math.floor(VOCABULARY ** this.#random() - 1));
    return Array.from({ length }, () => this.#words[rank()]).join(" ");
  }

  rareWord(): string {
    return this.#words[VOCABULARY / 2 + this.#below(VOCABULARY / 2)] ?? "";
  }

  japanese(): string {
    return JAPANESE[this.#below(JAPANESE.length)] ?? "";
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end);
  }
}

function word(random: () => number): string {
  const length = 2 + Math.floor(random() * 3);
  return Array.from({ length }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join("");
}
