// What the person asked: the current prompt and the earlier ones, cleaned, composed to one text, and sorted
// into prompts with a subject, prompts that only connect to what was said, and small talk.

import { withoutInjected } from "../intake/injected.js";
import { countChars, cutChars } from "../text/characters.js";
import { contentTerms } from "../text/tokenise.js";
import { isGeneralGram, subjectOf } from "./small-talk.js";

export interface Prompt {
  readonly current: string;
  /** earlier prompts and the current one, a line each */
  readonly composed: string;
  readonly hasHistory: boolean;
  /** `subject`: it names what it is about; `connecting`: only the earlier prompts do; `none`: nobody does */
  readonly kind: "subject" | "connecting" | "none";
  /** content terms that must open the gate: the current prompt's, or the earlier ones' when it connects */
  readonly terms: readonly string[];
  /** the text that they stand in */
  readonly subject: string;
}

/** Earlier prompts that count, and how much of each. */
const MAX_HISTORY = 10;
const MAX_HISTORY_CHARS = 400;
/** Of a longer prompt its first and last parts count: a question stands before or behind what was pasted. */
const MAX_PROMPT_CHARS = 3000;

export function readPrompt(query: string, history: readonly string[]): Prompt {
  const current = withoutMiddle(clean(query), MAX_PROMPT_CHARS);
  const earlier = history.map(clean).filter((text) => text !== "");
  while (earlier.length > 0 && earlier[earlier.length - 1] === clean(query)) earlier.pop();
  const kept = earlier.slice(-MAX_HISTORY).map((text) => withoutMiddle(text, MAX_HISTORY_CHARS));
  const composed = [...kept, current].filter((text) => text !== "").join("\n");
  const subject = subjectOf(current);
  const terms = subjectTerms(subject.text);
  if (terms.length > 0)
    return { current, composed, hasHistory: kept.length > 0, kind: "subject", terms, subject: subject.text };
  const earlierSubject = subject.connects ? kept.map((text) => subjectOf(text).text).join("\n") : "";
  const carried = subjectTerms(earlierSubject);
  return {
    current,
    composed,
    hasHistory: kept.length > 0,
    kind: carried.length > 0 ? "connecting" : "none",
    terms: carried,
    subject: earlierSubject,
  };
}

/** Well-formed, without blocks that harnesses and hooks put in, ours among them. */
function clean(text: string): string {
  return withoutInjected(text.toWellFormed().replaceAll("\0", " ")).trim();
}

function withoutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars || countChars(text) <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const tail = Array.from(text.slice(-maxChars * 2))
    .slice(-half)
    .join("");
  return `${cutChars(text, half)}\n${tail}`;
}

function subjectTerms(text: string): string[] {
  return contentTerms(text).filter((term) => !isGeneralGram(term));
}
