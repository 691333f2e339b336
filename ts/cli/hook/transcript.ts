// The end of a session's transcript: what the person typed last, and which memories were shown lately. Read
// backwards from the file's end, since a transcript can be hundreds of megabytes long.

import { closeSync, fstatSync, readSync } from "node:fs";
import { parseJson } from "../../domain/json.js";
import { openRegular, userPath } from "../../files.js";
import { withoutInjected } from "../../intake/injected.js";

export interface TranscriptTail {
  /** prompts of the person, oldest first */
  readonly prompts: readonly string[];
  /** ref -> in how many of the last blocks it stood */
  readonly shown: Readonly<Record<string, number>>;
}

const CHUNK_BYTES = 128 * 1024;
/** Tool results between two prompts are long; what lies further back is given up. */
const MAX_BYTES = 2 * 1024 * 1024;

/** Whatever a slow disk or odd content costs: what was read by then counts. */
const READ_LIMIT_MS = 2000;

const NOTHING: TranscriptTail = { prompts: [], shown: {} };

/**
 * Never throws: an unreadable transcript, or one that is no regular file, is an empty one. Ends after two seconds, or
 * after `limitMs` where that is less.
 */
export function readTranscriptTail(
  path: string,
  wanted: { prompts: number; blocks: number },
  limitMs = READ_LIMIT_MS,
): TranscriptTail {
  if (wanted.prompts <= 0 && wanted.blocks <= 0) return NOTHING;
  try {
    const prompts: string[] = [];
    const blocks: string[][] = [];
    const deadline = performance.now() + Math.min(limitMs, READ_LIMIT_MS);
    for (const line of linesFromEnd(userPath("transcript_path", path))) {
      if (performance.now() > deadline) break;
      if (prompts.length < wanted.prompts && /"(?:user|user_message)"/.test(line)) {
        const text = promptOf(parse(line));
        if (text !== "") prompts.push(text);
      }
      if (blocks.length < wanted.blocks && line.includes("ambient-ids")) {
        const refs = shownIn(line);
        if (refs.length > 0) blocks.push(refs);
      }
      if (prompts.length >= wanted.prompts && blocks.length >= wanted.blocks) break;
    }
    const shown: Record<string, number> = {};
    for (const ref of blocks.flat()) shown[ref] = (shown[ref] ?? 0) + 1;
    return { prompts: prompts.reverse(), shown };
  } catch {
    return NOTHING;
  }
}

/** Whole lines, the last one first. */
function* linesFromEnd(path: string): Generator<string> {
  const file = openRegular(path);
  try {
    let end = fstatSync(file).size;
    const oldest = Math.max(0, end - MAX_BYTES);
    // Bytes of a line whose start lies further back.
    let rest = Buffer.alloc(0);
    while (end > oldest) {
      const start = Math.max(oldest, end - CHUNK_BYTES);
      const chunk = Buffer.alloc(end - start);
      readSync(file, chunk, 0, chunk.length, start);
      end = start;
      const bytes = Buffer.concat([chunk, rest]);
      const firstBreak = start === 0 ? -1 : bytes.indexOf(0x0a);
      if (start > 0 && firstBreak < 0) {
        rest = bytes;
        continue;
      }
      rest = bytes.subarray(0, firstBreak + 1);
      const lines = bytes.toString("utf8", firstBreak + 1).split("\n");
      for (let i = lines.length - 1; i >= 0; i--) {
        const line = lines[i]?.trim() ?? "";
        if (line !== "") yield line;
      }
    }
  } finally {
    closeSync(file);
  }
}

function parse(line: string): Record<string, unknown> {
  try {
    const value: unknown = parseJson(line);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

const NOT_TYPED = ["isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly"];

/** What the person typed in this record, or "": no tool result, no side chain, no block of a hook. */
function promptOf(record: Record<string, unknown>): string {
  const payload = record["payload"];
  if (record["type"] === "event_msg" && isRecord(payload) && payload["type"] === "user_message")
    return withoutInjected(textOf(payload["message"]));
  if (record["type"] !== "user" && record["role"] !== "user") return "";
  if (NOT_TYPED.some((flag) => record[flag] === true) || record["toolUseResult"] !== undefined) return "";
  const origin = record["origin"];
  if (isRecord(origin) && typeof origin["kind"] === "string" && origin["kind"] !== "human") return "";
  const message = record["message"];
  return withoutInjected(textOf(isRecord(message) ? message["content"] : record["content"]));
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: unknown) =>
      isRecord(block) && (block["type"] === "text" || block["type"] === "input_text") ? block["text"] : "",
    )
    .filter((text): text is string => typeof text === "string" && text !== "")
    .join(" ");
}

/** References of the first manifest of a line that a hook's block came in. */
function shownIn(line: string): string[] {
  const manifest = /<!-- ambient-ids ((?:[a-z]+=[\w:,]+ )+)-->/.exec(line)?.[1];
  if (manifest === undefined || !line.includes("<ambient-recall>")) return [];
  const record = parse(line);
  // A person or a tool that quotes a block shows nothing.
  const attachment = record["attachment"];
  const isHook = isRecord(attachment) && attachment["type"] === "hook_success";
  if (!isHook && (record["type"] === "user" || record["type"] === "assistant")) return [];
  return manifest
    .trim()
    .split(" ")
    .flatMap((slot) => slot.slice(slot.indexOf("=") + 1).split(","))
    .filter((ref) => /^(?:mem|ep):\d+$/.test(ref));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
