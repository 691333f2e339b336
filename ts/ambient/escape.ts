// Stored text on its way into the block: one line, nothing invisible, no keys and tokens, and nothing that could
// close the block, open a tag or forge the manifest. The stored text itself stays as it is.

import { withoutSecrets } from "../domain/secrets.js";
import { countChars, cutChars, graphemeStart } from "../text/characters.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal sequences are what this is about
const TERMINAL = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const BLANKS = /[\t\n\v\f\r\u0085\u2028\u2029]/g;
/** Controls, soft hyphens, fillers, zero width and direction marks, tag characters. */
const INVISIBLE =
  /\p{Cc}|\p{Cs}|[\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\u00ad|\u034f|\u061c|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0|[\u180b-\u180f]|[\u{e0000}-\u{e0fff}]/gu;
/** A joiner is part of an emoji, or it is not there. */
const STRAY_JOINER =
  /(?<!\p{Extended_Pictographic}|\ufe0f|\p{Emoji_Modifier})\u200d|\u200d(?!\p{Extended_Pictographic})/gu;
const MAY_START_TAG = /[<\uff1c\ufe64]/;
const TAG_START = /[<\uff1c\ufe64](?=\s*[/!?\uff0f]|\p{L})/gu;
const COMMENT_END = /--+(?=[>\uff1e])/g;

const PRINTABLE_ASCII = /^[ -~]*$/;

/** One visible line. */
export function oneLine(text: string): string {
  // Most texts; the classes below take a millisecond each at their first use.
  if (PRINTABLE_ASCII.test(text)) return text.trim();
  const visible = text.replace(TERMINAL, "").replace(BLANKS, " ").replace(INVISIBLE, "");
  return (visible.includes("\u200d") ? visible.replace(STRAY_JOINER, "") : visible).trim();
}

/** Takes the meaning off what would be markup. */
function withoutMarkup(line: string): string {
  const inert = MAY_START_TAG.test(line) ? line.replace(TAG_START, "&lt;") : line;
  return inert.replace(COMMENT_END, "- -");
}

/** The first `maxChars` code points of a line with `…` behind them when it is longer; never half a grapheme. */
function cutLine(line: string, maxChars: number): string {
  if (countChars(line) <= maxChars) return line;
  const at = graphemeStart(line, 0, maxChars);
  return `${cutChars(line, at > 0 ? at : maxChars).trimEnd()}…`;
}

/**
 * A text as a row of the block shows it. Secrets go before the cut, which could leave half of one, and once more
 * when what is invisible has gone from between their letters.
 */
export function excerptLine(text: string, maxChars: number): string {
  const line = withoutSecrets(oneLine(withoutSecrets(text)));
  return withoutMarkup(cutLine(line, maxChars));
}
