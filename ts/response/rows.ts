// Rows as readers get them: snake_case, previews instead of long texts, nothing that is empty.

import { type Episode, episodeTime, type Memory } from "../domain/memory.js";
import { formatRef } from "../domain/record.js";
import { countChars, cutChars } from "../domain/text.js";
import { type Hit, type ProfileRow, type RecordRow, rowText } from "../recall/candidate.js";
import type { Confidence } from "../recall/confidence.js";

/** A JSON object of the wire. */
export type WireObject = { [key: string]: unknown };

/** `previewChars` 0 shows texts whole. */
export interface RowOptions {
  readonly previewChars: number;
}

/** A row of a recall answer. Only stored rows have a ref and are cut. */
export function toMessage(hit: Hit, options: RowOptions): WireObject {
  const { row, confidence, matchReason } = hit;
  const text = rowText(row);
  return {
    ...(row.kind === "profile"
      ? { content: text }
      : { ...cutText("content", text, options), ref: rowRef(row) }),
    ...rowDetails(row),
    ...(confidence === undefined ? {} : { confidence: toConfidence(confidence) }),
    ...(matchReason === undefined ? {} : { match_reason: { ...matchReason } }),
  };
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

/** A whole row of `get_contents`. */
export function toItem(row: RecordRow): WireObject {
  return {
    ref: rowRef(row),
    content: rowText(row),
    ...rowDetails(row),
    ...(row.kind === "ep" ? { resolved: row.episode.resolved } : {}),
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

export function rowRef(row: RecordRow): string {
  return formatRef({ kind: row.kind, id: row.kind === "mem" ? row.memory.id : row.episode.id });
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
