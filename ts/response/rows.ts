// Rows as readers get them: snake_case, previews instead of long texts, nothing that is empty.

import { EPISODE_LABEL, type Episode, episodeTime, type Memory } from "../domain/memory.js";
import { formatRef } from "../domain/record.js";
import {
  type Hit,
  type ProfileRow,
  type RecordRow,
  rowId,
  rowText,
  storedText,
} from "../recall/candidate.js";
import type { Confidence } from "../recall/confidence.js";
import type { ContentsRow, RowRange } from "../service/contents.js";
import { countChars, cutChars } from "../text/characters.js";
import { cutExcerpt } from "./excerpt.js";

/** A JSON object of the wire. */
export type WireObject = { [key: string]: unknown };

/** `previewChars` 0 shows texts whole. */
export interface RowOptions {
  readonly previewChars: number;
}

/** How the rows of a recall are shown. */
export interface RecallView extends RowOptions {
  /** longest excerpt of a cut row, 0 shows none */
  readonly excerptChars: number;
  /** size of the whole answer, see `wireSize` */
  readonly budgetChars: number;
  /** whole texts as far as `FULL_CONTENT_CHARS` goes */
  readonly fullContent?: boolean | undefined;
}

/** Previews of rows for which an answer has little room. */
const SHORT_PREVIEW_CHARS = 120;

/**
 * A row of a recall answer, in forms that take less and less room: with its excerpt, without, with a short
 * preview. Only stored rows have a ref and are cut.
 */
export function messageForms(hit: Hit, view: RecallView, isWhole: boolean): WireObject[] {
  if (hit.row.kind === "profile" || isWhole) {
    const short = toMessage(hit, SHORT_PREVIEW_CHARS, {});
    const whole = toMessage(hit, 0, {});
    return "content_truncated" in short ? [whole, short] : [whole];
  }
  const excerpt = excerptOf(hit, view);
  const cut = (previewChars: number): WireObject => toMessage(hit, previewChars, {});
  return [
    ...(Object.keys(excerpt).length === 0 ? [] : [toMessage(hit, view.previewChars, excerpt)]),
    cut(view.previewChars),
    ...(view.previewChars <= SHORT_PREVIEW_CHARS ? [] : [cut(SHORT_PREVIEW_CHARS)]),
  ];
}

function toMessage(hit: Hit, previewChars: number, excerpt: WireObject): WireObject {
  const { row, confidence, matchReason } = hit;
  return {
    ...cutText("content", rowText(row), { previewChars }),
    ...(row.kind === "profile" ? {} : { ref: rowRef(row) }),
    ...excerpt,
    ...rowDetails(row),
    ...(confidence === undefined ? {} : { confidence: toConfidence(confidence) }),
    ...(matchReason === undefined ? {} : { match_reason: { ...matchReason } }),
  };
}

function excerptOf({ row, passages }: Hit, { previewChars, excerptChars }: RecallView): WireObject {
  if (row.kind === "profile" || passages === undefined) return {};
  const labelChars = row.kind === "ep" ? EPISODE_LABEL.length : 0;
  const shown = { previewChars: Math.max(0, previewChars - labelChars), maxChars: excerptChars };
  const excerpt = cutExcerpt(storedText(row), passages, shown);
  return excerpt === "" ? {} : { excerpt, excerpt_basis: passages.basis };
}

function toConfidence({ ageHours, ageUnknown, resolved, cosine, score }: Confidence): WireObject {
  return {
    age_hours: ageHours,
    ...(ageUnknown ? { age_unknown: true } : {}),
    ...(resolved ? { resolved: true } : {}),
    ...(cosine === null ? {} : { cosine }),
    score,
  };
}

/** A row of `get_contents`: whole, or the range that was asked for. */
export function toItem(row: ContentsRow): WireObject {
  const { range } = row;
  return {
    ref: rowRef(row),
    content: range === undefined ? rowText(row) : range.text,
    ...rowDetails(row),
    ...(row.kind === "ep" ? { resolved: row.episode.resolved } : {}),
    ...(range === undefined ? {} : { range: toRange(range) }),
  };
}

function toRange({ start, end, contentChars, block, blocks }: RowRange): WireObject {
  return {
    span: [start, end],
    content_len: contentChars,
    ...(block === undefined ? {} : { block, of: blocks }),
  };
}

/** A row of `list_memories`. */
export function toListedMemory(memory: Memory, options: RowOptions): WireObject {
  return {
    id: memory.id,
    agent_id: memory.agentId,
    project_id: memory.projectId,
    ...cutText("content", memory.content, options),
    source: memory.source,
    timestamp: memory.timestamp,
    created_at: memory.createdAt,
    locked: memory.locked,
    channel: memory.channel,
  };
}

/** A row of `list_episodes`. */
export function toListedEpisode(episode: Episode, options: RowOptions): WireObject {
  return {
    id: episode.id,
    agent_id: episode.agentId,
    project_id: episode.projectId,
    channel: episode.channel,
    ...cutText("summary", episode.summary, options),
    keywords: episode.keywords,
    start_time: episode.startTime,
    end_time: episode.endTime,
    resolved: episode.resolved,
    created_at: episode.createdAt,
  };
}

function rowRef(row: RecordRow): string {
  return formatRef({ kind: row.kind, id: rowId(row) });
}

function rowDetails(row: RecordRow | ProfileRow): WireObject {
  if (row.kind === "profile") return { source: { System: "profile" } };
  if (row.kind === "ep") return episodeDetails(row.episode);
  const { source, timestamp, msgId } = row.memory;
  return {
    ...(isEmpty(source) ? {} : { source }),
    ...(timestamp === "" ? {} : { timestamp }),
    ...(msgId === "" ? {} : { id: msgId }),
  };
}

function episodeDetails(episode: Episode): WireObject {
  return { source: { System: "episode" }, timestamp: episodeTime(episode) };
}

function isEmpty(source: Memory["source"]): boolean {
  return typeof source === "string" ? source === "" : Object.keys(source).length === 0;
}

/** A pure prefix without any mark, so that it still matches the whole text when it is passed back. */
export function cutText(field: string, text: string, { previewChars }: RowOptions): WireObject {
  if (previewChars <= 0 || text.length <= previewChars) return { [field]: text };
  const length = countChars(text);
  if (length <= previewChars) return { [field]: text };
  return { [field]: cutChars(text, previewChars), [`${field}_truncated`]: true, [`${field}_len`]: length };
}
