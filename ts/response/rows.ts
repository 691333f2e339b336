// Rows as readers get them: snake_case, previews instead of long texts, nothing that is empty.

import { EPISODE_LABEL, type Episode, episodeTime, type Memory } from "../domain/memory.js";
import { formatRef } from "../domain/record.js";
import { countChars, cutChars } from "../domain/text.js";
import type { Hit, RecordRow } from "../recall/candidate.js";

/** A JSON object of the wire. */
export type WireObject = { [key: string]: unknown };

/** `previewChars` 0 shows texts whole. */
export interface RowOptions {
  readonly previewChars: number;
}

/** A row of a recall answer. */
export function toMessage(hit: Hit, options: RowOptions): WireObject {
  return {
    ...cut("content", rowContent(hit.row), options),
    ref: rowRef(hit.row),
    ...rowDetails(hit.row),
    ...(hit.matchReason === undefined ? {} : { match_reason: { ...hit.matchReason } }),
  };
}

/** A whole row of `get_contents`. */
export function toItem(row: RecordRow): WireObject {
  return {
    ref: rowRef(row),
    content: rowContent(row),
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
    ...cut("content", memory.content, options),
    source: memory.source,
    timestamp: memory.timestamp,
    created_at: memory.createdAt,
    locked: memory.locked,
    channel: memory.channel,
  };
}

export function rowRef(row: RecordRow): string {
  return formatRef({ kind: row.kind, id: row.kind === "mem" ? row.memory.id : row.episode.id });
}

export function rowContent(row: RecordRow): string {
  return row.kind === "mem" ? row.memory.content : EPISODE_LABEL + row.episode.summary;
}

function rowDetails(row: RecordRow): WireObject {
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
function cut(field: string, text: string, { previewChars }: RowOptions): WireObject {
  if (previewChars <= 0 || text.length <= previewChars) return { [field]: text };
  const length = countChars(text);
  if (length <= previewChars) return { [field]: text };
  return { [field]: cutChars(text, previewChars), [`${field}_truncated`]: true, [`${field}_len`]: length };
}
