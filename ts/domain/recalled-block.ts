// Blocks of ambient recall that come back inside other texts: recognised by tag and intro, so that they are
// never stored as if somebody had said them.

export const OPEN_TAG = "<ambient-recall>";
export const CLOSE_TAG = "</ambient-recall>";

/** How the line under the tag starts, in both languages. */
const INTRO_MARKS = [
  "長期記憶 (cpersona-native) から自動取得した関連知識",
  "Recalled from long-term memory (cpersona-native)",
] as const;

/** The block of GaOTTT, whose hook may run beside ours. */
const FOREIGN_MARK = "GaOTTT 長期記憶から自動取得した関連知識";

export function holdsRecalledBlock(text: string): boolean {
  return [...INTRO_MARKS, FOREIGN_MARK].some((mark) => text.includes(mark));
}

/** The text without recalled blocks; one that was cut off takes the rest with it. */
export function withoutRecalledBlocks(text: string): string {
  let kept = text;
  for (const mark of INTRO_MARKS) {
    const opening = `${OPEN_TAG}\n${mark}`;
    for (let start = kept.indexOf(opening); start >= 0; start = kept.indexOf(opening, start)) {
      const end = kept.indexOf(CLOSE_TAG, start + opening.length);
      kept = kept.slice(0, start) + (end < 0 ? "" : kept.slice(end + CLOSE_TAG.length));
    }
  }
  return kept;
}
