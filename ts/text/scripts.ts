// Scripts that write no blanks between words: their text is cut into pairs of characters.

import { isAscii } from "./characters.js";

/** Inside a class of a pattern with the flag `u` or `v`. Hangul writes blanks, and is cut into pairs all the same. */
export const SPACELESS =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー々〆〇";

const ALL_SPACELESS = new RegExp(`^[${SPACELESS}\\p{Script=Hangul}]+$`, "u");

/** Whether a text is of nothing but characters that are cut into pairs. */
export function isSpaceless(text: string): boolean {
  // ASCII first: the classes take milliseconds to compile at their first use.
  return !isAscii(text) && ALL_SPACELESS.test(text);
}
