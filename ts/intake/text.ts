// Plain text: paragraphs, merged with their neighbours up to about a thousand characters.
import { dateInFileName, leadingDate } from "./dates.js";
import { type Draft, draftId } from "./draft.js";
import { packBlocks, splitText } from "./pieces.js";

/** Target size of a piece of plain text, in code points. */
const MAX_TEXT_CHARS = 1_000;

/**
 * Drafts of a text file, in its order. A paragraph that begins with a date starts a new draft and gives it
 * (and the paragraphs after it) its date; otherwise the file name may.
 */
export function draftsFromText(text: string, relativeFile: string): Draft[] {
  const source = { type: "System", id: relativeFile, name: "" };
  const drafts: Draft[] = [];
  let timestamp = dateInFileName(relativeFile.split("/").at(-1) ?? "");
  let paragraphs: string[] = [];
  const flush = () => {
    for (const piece of packBlocks(paragraphs, MAX_TEXT_CHARS)) {
      for (const content of splitText(piece, MAX_TEXT_CHARS)) {
        const draft: Draft = { content, id: draftId(relativeFile, content), source };
        if (timestamp !== undefined) draft.timestamp = timestamp;
        drafts.push(draft);
      }
    }
    paragraphs = [];
  };
  for (const block of text.split(/\n[ \t]*\n/)) {
    const paragraph = block.replace(/[ \t]+$/gm, "").replace(/^\n+|\n+$/g, "");
    if (paragraph.trim() === "") continue;
    const dated = leadingDate(paragraph);
    if (dated !== undefined) {
      flush();
      timestamp = dated.timestamp;
    }
    const kept = dated?.rest ?? paragraph;
    if (kept !== "") paragraphs.push(kept);
  }
  flush();
  return drafts;
}
