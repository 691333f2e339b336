// Claude Code transcripts to drafts: what the person typed and what the assistant answered, as pairs.
// Tool calls and their results, side chains, meta records and injected blocks are left out.
import { parseJson } from "../domain/json.js";
import { countChars } from "../text/characters.js";
import { repairText } from "../text/clean.js";
import { stampOf } from "./dates.js";
import type { Line } from "./decode.js";
import { type Draft, draftId, type Intake, isRecord, MAX_DRAFT_CHARS } from "./draft.js";
import { withoutInjected } from "./injected.js";
import { splitText } from "./pieces.js";

interface Turn {
  role: "user" | "assistant";
  text: string;
  timestamp: string | undefined;
  session: string;
  project: string;
}

/** Drafts and notes of the lines of one transcript, in its order. */
export async function* draftsFromTranscript(
  lines: AsyncIterable<Line> | Iterable<Line>,
  relativeFile: string,
): AsyncGenerator<Intake> {
  let asked: Turn | undefined;
  let answered: Turn | undefined;
  let bad = 0;
  let firstBad = 0;
  let repaired = 0;
  const flush = (): Intake[] => {
    const drafts = exchange(asked, answered, relativeFile);
    asked = undefined;
    answered = undefined;
    return drafts.map((draft) => ({ draft }));
  };
  for await (const line of lines) {
    if (line.text?.trim() === "") continue;
    const record = line.text === undefined ? undefined : parse(line.text.replace(/^\uFEFF/, ""));
    if (record === undefined) {
      bad++;
      firstBad ||= line.number;
      continue;
    }
    const turn = turnOf(record);
    if (turn === undefined) continue;
    const clean = repairText(turn.text);
    if (clean.changed) repaired++;
    turn.text = clean.text;
    if (turn.role === "user") {
      // Two prompts in a row belong together: the person went on typing before the answer came.
      if (asked !== undefined && answered === undefined) asked.text += `\n\n${turn.text}`;
      else {
        yield* flush();
        asked = turn;
      }
    } else if (answered === undefined) answered = turn;
    else answered.text += `\n\n${turn.text}`;
  }
  yield* flush();
  if (bad > 0) {
    const text = `${bad} ${bad === 1 ? "line is" : "lines are"} not JSON (cut off or damaged), left out`;
    yield { note: { file: relativeFile, line: firstBad, text } };
  }
  if (repaired > 0) {
    const text = `${repaired} turns held NUL or half surrogate pairs; these characters were replaced`;
    yield { note: { file: relativeFile, text } };
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseJson(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What a record says, or undefined when it is no turn of the conversation. */
function turnOf(record: Record<string, unknown>): Turn | undefined {
  const role = record["type"];
  if (role !== "user" && role !== "assistant") return undefined;
  const hidden = [
    "isMeta",
    "isSidechain",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
  ];
  if (hidden.some((flag) => record[flag] === true)) return undefined;
  const origin = record["origin"];
  if (
    role === "user" &&
    isRecord(origin) &&
    typeof origin["kind"] === "string" &&
    origin["kind"] !== "human"
  ) {
    return undefined;
  }
  const message = record["message"];
  if (!isRecord(message) || message["model"] === "<synthetic>") return undefined;
  const text = withoutInjected(textOf(message["content"]));
  if (text === "") return undefined;
  const session = record["sessionId"];
  const cwd = record["cwd"];
  return {
    role,
    text,
    timestamp: stampOf(record["timestamp"]),
    session: typeof session === "string" ? session : "",
    // The folder may come from another platform than this one.
    project: typeof cwd === "string" ? (cwd.split(/[/\\]/).filter(Boolean).at(-1) ?? "") : "",
  };
}

/** The text blocks of a message. Each block is closed by a line end, so that a cut-off tag stays in its own. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: unknown) =>
      isRecord(block) && block["type"] === "text" && typeof block["text"] === "string"
        ? withoutInjected(block["text"])
        : "",
    )
    .filter((text) => text !== "")
    .join("\n\n");
}

/** A question with its answer as one memory when both fit, otherwise each in pieces of its own. */
function exchange(asked: Turn | undefined, answered: Turn | undefined, file: string): Draft[] {
  const turns = [asked, answered].filter((turn) => turn !== undefined);
  if (!turns.some((turn) => /[\p{L}\p{N}]/u.test(turn.text))) return [];
  const pair = turns
    .map((turn) => `${turn.role === "user" ? "User" : "Assistant"}: ${turn.text}`)
    .join("\n\n");
  const first = turns[0];
  if (first !== undefined && countChars(pair) <= MAX_DRAFT_CHARS) return [draftOf(first, pair, file)];
  return turns.flatMap((turn) => {
    const name = turn.role === "user" ? "User" : "Assistant";
    return splitText(turn.text, MAX_DRAFT_CHARS - 12).map((piece) =>
      draftOf(turn, `${name}: ${piece}`, file),
    );
  });
}

function draftOf(turn: Turn, content: string, file: string): Draft {
  const draft: Draft = { content, id: draftId(file, content) };
  draft.source = { type: turn.role === "user" ? "User" : "Agent", id: "claude-code", name: "" };
  if (turn.timestamp !== undefined) draft.timestamp = turn.timestamp;
  // Not the channel: that would hide one session's memories from recall in another.
  if (turn.session !== "") draft.metadata = { session_id: turn.session };
  if (turn.project !== "") draft.project_id = turn.project;
  return draft;
}
