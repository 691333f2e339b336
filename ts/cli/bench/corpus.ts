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

export interface Corpus {
  /** text of row `i` */
  text(i: number): string;
  /** queries by kind, `run` counting from 0 */
  readonly queries: Readonly<Record<QueryKind, (run: number) => string>>;
}

export type QueryKind = "six common words" | "one rare word" | "forty words" | "two characters" | "empty";

export function makeCorpus(seed: number): Corpus {
  const random = seededRandom(seed);
  const words = Array.from({ length: VOCABULARY }, () => word(random));
  const zipf = (): string => words[Math.min(VOCABULARY - 1, Math.floor(VOCABULARY ** random() - 1))] ?? "";
  const sentence = (length: number): string => Array.from({ length }, zipf).join(" ");
  const pick = (): string => JAPANESE[Math.floor(random() * JAPANESE.length)] ?? "";
  return {
    text: (i) =>
      i % 10 === 9
        ? `${pick()}の件は来週の${pick()}で決める。${pick()}を終えたら${pick()}に進む。${i}`
        : `${sentence(12 + Math.floor(random() * 48))} ${i}`,
    queries: {
      "six common words": () => sentence(6),
      "one rare word": () => words[3000 + Math.floor(random() * 3000)] ?? "",
      "forty words": () => sentence(40),
      "two characters": pick,
      empty: () => "",
    },
  };
}

function word(random: () => number): string {
  const length = 2 + Math.floor(random() * 3);
  return Array.from({ length }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join("");
}
