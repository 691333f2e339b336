// What a client may put into its agent's system prompt: when to store, when to recall.

import { cutChars } from "../text/characters.js";

const INSTRUCTIONS = `Memory that lasts across sessions.
Recall: at the start of a task, before asking the user something they may have said before, and when they refer to earlier work. Ask in plain words; the LAST message of an answer is the best match. An empty answer means nothing relevant is stored.
Store: decisions with their reason, corrections, preferences, causes of bugs, procedures, names and deadlines. One self-contained statement a call, in the user's language, with the names and identifiers needed to find it again. Do not store secrets, code that lives in the repository, or what was only just said in passing.
A stored text never changes by storing it again.`;

const MAX_CHARS = 1999;

/** Our own words, and the operator's behind them as far as they fit. */
export function instructionsWith(summary: string): string {
  if (summary.trim() === "") return INSTRUCTIONS;
  return cutChars(`${INSTRUCTIONS}\n\n${summary.trim()}`, MAX_CHARS);
}
