// Markdown notes to drafts: a dated heading or entry is one memory, a longer section is cut between its
// blocks. Each piece carries as much of its headings as it needs to make sense alone.

import { countChars } from "../text/characters.js";
import { dateInFileName, leadingDate, wholeMonth } from "./dates.js";
import { type Draft, draftId, MAX_DRAFT_CHARS } from "./draft.js";
import { fieldTags, fieldText, readFrontMatter } from "./front-matter.js";
import { type Block, type Section, sectionsOf } from "./markdown-blocks.js";
import { displayWidth, packBlocks, splitText } from "./pieces.js";

/** Below this width a heading or an entry says too little alone and gets its parent in front. */
const TERSE_COLUMNS = 24;
const TERSE_ENTRY_COLUMNS = 60;
/** A code block above this is cut between lines all the same, as the store would cut it anywhere. */
const MAX_FENCE_CHARS = 12_000;
const MAX_HEADING_CHARS = 300;

interface Context {
  title: string;
  timestamp: string | undefined;
}

/** Drafts of a Markdown text (`\n` ends, no BOM), in its order. */
export function draftsFromMarkdown(text: string, relativeFile: string): Draft[] {
  const { fields, body } = readFrontMatter(text);
  const stated = fieldText(fields, "date", "created", "created_at", "updated");
  const fileDate =
    (stated === undefined ? undefined : (leadingDate(stated)?.timestamp ?? wholeMonth(stated))) ??
    dateInFileName(relativeFile.split("/").at(-1) ?? "");
  const common = commonFields(relativeFile, fields);
  const pageTitle = fieldText(fields, "title");
  return sectionsOf(body).flatMap((section) => {
    const path =
      pageTitle === undefined || section.path[0] === pageTitle ? section.path : [pageTitle, ...section.path];
    const context = contextOf(path, fileDate);
    return piecesOf(section, context).map(({ content, timestamp }) => {
      const draft: Draft = { content, id: draftId(relativeFile, content), ...common };
      if (timestamp !== undefined) draft.timestamp = timestamp;
      return draft;
    });
  });
}

function commonFields(relativeFile: string, fields: ReturnType<typeof readFrontMatter>["fields"]) {
  const common: Partial<Draft> = { source: { type: "System", id: relativeFile, name: "" } };
  const project = fieldText(fields, "project", "project_id");
  const channel = fieldText(fields, "channel");
  const tags = fieldTags(fields);
  if (project !== undefined) common.project_id = project;
  if (channel !== undefined) common.channel = channel;
  if (tags.length > 0) common.tags = tags;
  return common;
}

/** Title and date of a section. Dates in headings become the timestamp and leave the title. */
function contextOf(path: readonly string[], fileDate: string | undefined): Context {
  let timestamp = fileDate;
  const titles: string[] = [];
  for (const heading of path) {
    const dated = leadingDate(heading);
    const month = dated === undefined ? wholeMonth(heading) : undefined;
    timestamp = dated?.timestamp ?? month ?? timestamp;
    const title = month === undefined ? (dated?.rest ?? heading) : "";
    if (title !== "") titles.push(splitText(title, MAX_HEADING_CHARS)[0] ?? "");
  }
  let title = titles.pop() ?? "";
  while (title !== "" && displayWidth(title) < TERSE_COLUMNS && titles.length > 0) {
    title = `${titles.pop()} › ${title}`;
  }
  return { title, timestamp };
}

function piecesOf(section: Section, context: Context): Piece[] {
  const dated = section.path.some((heading) => leadingDate(heading) !== undefined);
  const ownDate = leadingDate(section.path.at(-1) ?? "") !== undefined;
  // "## 2026-06-03 Moved to port 6432" says it all; an undated heading alone is only an outline.
  if (section.blocks.length === 0 && ownDate && context.title !== "") {
    return [{ content: context.title, timestamp: context.timestamp }];
  }
  const pieces: Piece[] = [];
  let group: Block[] = [];
  const flush = () => {
    pieces.push(...groupPieces(group, context));
    group = [];
  };
  const separate = entriesStandAlone(section.blocks, dated);
  for (const block of section.blocks) {
    const entry = block.kind === "bullet" ? leadingDate(withoutMarker(block.text)) : undefined;
    if (block.kind !== "bullet" || !(separate || entry !== undefined)) {
      group.push(block);
      continue;
    }
    flush();
    const text = entry?.rest ?? withoutMarker(block.text);
    const lead = context.title !== "" && displayWidth(text) < TERSE_ENTRY_COLUMNS ? `${context.title}: ` : "";
    const timestamp = entry?.timestamp ?? context.timestamp;
    for (const content of cut(text, MAX_DRAFT_CHARS))
      pieces.push({ content: `${lead}${content}`, timestamp });
  }
  flush();
  return pieces;
}

interface Piece {
  content: string;
  timestamp: string | undefined;
}

/** Whether each entry of a list is a memory of its own rather than a line of one memory. */
function entriesStandAlone(blocks: readonly Block[], datedHeading: boolean): boolean {
  const entries = blocks.filter((block) => block.kind === "bullet");
  if (datedHeading || entries.length < 2) return false;
  const widths = entries.map((block) => displayWidth(block.text)).sort((a, b) => a - b);
  return (widths[widths.length >> 1] ?? 0) >= 40;
}

/** "- text" and its indented lines without the marker. */
function withoutMarker(text: string): string {
  const marker = /^ ?(?:[-*+])[ \t]+(?:\[[ xX]\][ \t]+)?/.exec(text)?.[0].length ?? 0;
  return text.slice(marker).replace(/\n {2,4}/g, "\n");
}

/** The blocks of one section as few pieces, each opened by the title. */
function groupPieces(blocks: readonly Block[], context: Context): Piece[] {
  if (blocks.length === 0) return [];
  const room = MAX_DRAFT_CHARS - (context.title === "" ? 0 : countChars(context.title) + 2);
  const parts = listsJoined(blocks, room).flatMap((text) => cut(text, room));
  return packBlocks(parts, room).map((text) => ({
    content: context.title === "" ? text.trim() : `${context.title}\n\n${text}`.trim(),
    timestamp: context.timestamp,
  }));
}

/** The texts of blocks, with the entries of one list joined line to line as far as they fit. */
function listsJoined(blocks: readonly Block[], room: number): string[] {
  const texts: string[] = [];
  let list: Block[] = [];
  const flush = () => {
    texts.push(
      ...packBlocks(
        list.map((entry) => entry.text),
        room,
        "\n",
      ),
    );
    list = [];
  };
  for (const block of blocks) {
    if (block.kind !== list[0]?.kind) flush();
    if (block.kind === "bullet" || block.kind === "step") list.push(block);
    else texts.push(block.text);
  }
  flush();
  return texts;
}

/** Splits a block that is too long; code blocks inside stay whole as far as the store allows. */
function cut(text: string, room: number): string[] {
  if (countChars(text) <= room) return [text];
  const parts: string[] = [];
  let prose: string[] = [];
  const lines = text.split("\n");
  const flush = () => {
    parts.push(...splitText(prose.join("\n"), room));
    prose = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const open = /^\s*(`{3,}|~{3,})[^`]*$/.exec(lines[at] ?? "");
    if (!open) {
      prose.push(lines[at] ?? "");
      continue;
    }
    flush();
    let end = at + 1;
    while (end < lines.length && !closes(lines[end] ?? "", open[1] ?? "```")) end++;
    parts.push(...cutFence(lines.slice(at, end + 1), open[1] ?? "```"));
    at = end;
  }
  flush();
  return packBlocks(parts, room, "\n");
}

function closes(line: string, mark: string): boolean {
  const text = line.trim();
  return text.startsWith(mark) && /^(`+|~+)$/.test(text);
}

/** A code block whole, or in parts that each open and close it. */
function cutFence(lines: readonly string[], mark: string): string[] {
  const whole = lines.join("\n");
  if (countChars(whole) <= MAX_FENCE_CHARS) return [whole];
  const closed = closes(lines.at(-1) ?? "", mark);
  const inner = lines.slice(1, closed ? -1 : undefined).join("\n");
  const room = MAX_FENCE_CHARS - countChars(lines[0] ?? "") - mark.length - 2;
  return splitText(inner, room).map((part) => `${lines[0]}\n${part}\n${mark}`);
}
