// Which part of a long text the block shows: its start, unless another part speaks of the prompt's words.

import { charSlicer, countChars, cutChars } from "../text/characters.js";
import { splitSentences } from "../text/sentences.js";
import { indexTerms } from "../text/tokenise.js";

/** Longer texts are looked through up to here. */
const MAX_LOOKED_CHARS = 8000;

/**
 * The text from the sentence on where most of the terms stand within the next `maxChars`; the whole text when
 * it fits, or when its start is as good as any part. Starts with `…` when something was left out before it.
 */
export function passageOf(text: string, terms: readonly string[], maxChars: number): string {
  if (terms.length === 0 || text.length <= maxChars || countChars(text) <= maxChars) return text;
  const wanted = new Set(terms);
  const looked = cutChars(text, MAX_LOOKED_CHARS);
  const slice = charSlicer(looked);
  const sentences = splitSentences(looked).map(({ start, end }) => slice(start, end));
  const held = sentences.map((sentence) => new Set(indexTerms(sentence).filter((term) => wanted.has(term))));
  let best = 0;
  let bestHeld = 0;
  for (let from = 0; from < sentences.length; from++) {
    const seen = new Set<string>();
    let chars = 0;
    for (let i = from; i < sentences.length && chars < maxChars; i++) {
      for (const term of held[i] ?? []) seen.add(term);
      chars += (sentences[i] ?? "").length;
    }
    // A later start has to be better, not as good; a window that starts without a term is no start.
    if (seen.size > bestHeld && (from === 0 || (held[from]?.size ?? 0) > 0)) {
      best = from;
      bestHeld = seen.size;
    }
  }
  const passage = sentences.slice(best).join("").trim() + text.slice(looked.length);
  return best === 0 ? text : `…${passage}`;
}
