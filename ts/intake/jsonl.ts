// JSONL to drafts: memories exported by this server or by CPersona, and plain objects with a `content`.
// A bad line costs that line only; the export's graph and folder records are counted, not read.
import { parseJson } from "../domain/json.js";
import { stampOf } from "./dates.js";
import type { Line } from "./decode.js";
import { cleanValue, type Draft, draftId, type Intake, isRecord } from "./draft.js";

const OTHER_RECORDS = new Set(["entity", "mention", "relation", "folder", "folder_member"]);

/** Drafts and notes of the lines of one file, in its order. */
export async function* draftsFromJsonl(
  lines: AsyncIterable<Line> | Iterable<Line>,
  relativeFile: string,
): AsyncGenerator<Intake> {
  const counts = new Map<string, number>();
  let declared: Record<string, unknown> | undefined;
  let other = 0;
  let repaired = 0;
  const note = (text: string, line?: number): Intake => ({
    note: line === undefined ? { file: relativeFile, text } : { file: relativeFile, line, text },
  });
  for await (const line of lines) {
    if (line.text === undefined) {
      yield note(line.problem ?? "unreadable line", line.number);
      continue;
    }
    const text = line.number === 1 ? line.text.replace(/^\uFEFF/, "") : line.text;
    if (text.trim() === "") continue;
    const parsed = parseLine(text);
    if (parsed === undefined) {
      yield note("not JSON (cut off or damaged), line left out", line.number);
      continue;
    }
    const clean = cleanValue(parsed);
    if (clean.changed) repaired++;
    const record = clean.value;
    if (!isRecord(record)) {
      yield note("not a JSON object, line left out", line.number);
      continue;
    }
    const type = typeof record["_type"] === "string" ? record["_type"] : "memory";
    counts.set(type, (counts.get(type) ?? 0) + 1);
    if (type === "header") declared = record;
    else if (OTHER_RECORDS.has(type)) other++;
    else {
      const draft = draftOf(type, record, relativeFile);
      yield draft === undefined ? note(missingText(type), line.number) : { draft };
    }
  }
  if (repaired > 0)
    yield note(`${repaired} lines held NUL or half surrogate pairs; these characters were replaced`);
  if (other > 0) yield note(`${other} records about entities, relations or folders were left out`);
  for (const problem of declared === undefined ? [] : miscounts(declared, counts)) yield note(problem);
}

function parseLine(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function missingText(type: string): string {
  const known = ["memory", "episode", "profile"].includes(type);
  const field = type === "episode" ? "summary" : "content";
  return known ? `${type} without ${field}, line left out` : `unknown record type, line left out`;
}

/** What the header promised and the file does not hold: the file is probably cut off. */
function miscounts(header: Record<string, unknown>, counts: ReadonlyMap<string, number>): string[] {
  return (["memory", "episode", "profile"] as const).flatMap((type) => {
    const promised = header[`${type}_count`];
    const found = counts.get(type) ?? 0;
    if (typeof promised !== "number" || promised === found) return [];
    return [`the header declares ${promised} ${type} records, the file holds ${found}`];
  });
}

function draftOf(type: string, record: Record<string, unknown>, file: string): Draft | undefined {
  if (type === "memory") return memoryDraft(record, file);
  const content = text(record[type === "episode" ? "summary" : "content"]);
  if (content === undefined || (type !== "episode" && type !== "profile")) return undefined;
  const draft: Draft = { content, id: draftId(file, content), kind: type };
  const stamp = stampOf(record[type === "episode" ? "end_time" : "updated_at"] ?? record["created_at"]);
  const keywords = record["keywords"];
  if (stamp !== undefined) draft.timestamp = stamp;
  if (
    type === "episode" &&
    (typeof keywords === "string" || Array.isArray(keywords)) &&
    keywords.length > 0
  ) {
    draft.metadata = { keywords: Array.isArray(keywords) ? keywords.join(" ") : keywords };
  }
  return withScope(draft, record);
}

function memoryDraft(record: Record<string, unknown>, file: string): Draft | undefined {
  const content = text(record["content"]);
  if (content === undefined) return undefined;
  const draft: Draft = { content };
  const given = text(record["msg_id"]) ?? (record["_type"] === undefined ? text(record["id"]) : undefined);
  // A caller's own key is kept: the same memory may come in another export later.
  draft.id = given ?? draftId(file, content);
  const stamp = stampOf(record["timestamp"]) ?? stampOf(record["created_at"] ?? record["date"]);
  if (stamp !== undefined) draft.timestamp = stamp;
  const { source, metadata } = record;
  if (isRecord(source) && Object.keys(source).length > 0) draft.source = source;
  else if (typeof source === "string" && source !== "") draft.source = { type: source, id: "", name: "" };
  if (isRecord(metadata) && Object.keys(metadata).length > 0) draft.metadata = metadata;
  const tags = Array.isArray(record["tags"])
    ? record["tags"]
    : isRecord(metadata)
      ? metadata["tags"]
      : undefined;
  if (Array.isArray(tags)) {
    const words = tags.filter((tag): tag is string => typeof tag === "string" && tag !== "");
    if (words.length > 0) draft.tags = words;
  }
  return withScope(draft, record);
}

function withScope(draft: Draft, record: Record<string, unknown>): Draft {
  const project = text(record["project_id"]);
  const channel = text(record["channel"]);
  if (project !== undefined) draft.project_id = project;
  if (channel !== undefined) draft.channel = channel;
  return draft;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
