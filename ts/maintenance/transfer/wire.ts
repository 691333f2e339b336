// The lines of an export: CPersona's record format. What only this project has (kind, tags, relations, use)
// travels in keys of its own, which CPersona ignores, on the record it belongs to.

import type { Episode, Memory } from "../../domain/memory.js";
import { formatRef, recordOfKey } from "../../domain/record.js";
import { encodeVector } from "../../domain/vector-bytes.js";
import type { RecordBelongings } from "../../store/belongings.js";
import type { EmbeddedBlock } from "../../store/embeddings.js";
import type { MovedProfile, TransferCounts } from "../../store/transfer.js";

const EXPORT_VERSION = "cpersona-export/1.1";
/** Later ones of the first format only add what may be left out. */
const KNOWN_VERSIONS = /^cpersona-export\/1\.[0-2]$/;

export function isKnownVersion(version: unknown): boolean {
  return typeof version === "string" && KNOWN_VERSIONS.test(version);
}

/** A JSON object of one line. */
export type Line = Record<string, unknown>;

/** A larger id would use up the ids that are left for rows of ours; its record gets a new one. */
const MAX_ID = 2 ** 40;

/** The record's id in the file, 0 when it has none that can be kept. */
export function idOf(line: Line): number {
  const id = line["id"];
  return typeof id === "number" && Number.isSafeInteger(id) && id >= 1 && id <= MAX_ID ? id : 0;
}

export function headerLine(agentId: string, exportedAt: string, counts: TransferCounts): Line {
  return {
    _type: "header",
    version: EXPORT_VERSION,
    agent_id: agentId,
    exported_at: exportedAt,
    memory_count: counts.memories,
    episode_count: counts.episodes,
    has_profile: counts.profiles > 0,
    profile_count: counts.profiles,
    entity_count: 0,
    mention_count: 0,
    relation_count: 0,
  };
}

export function memoryLine(memory: Memory, belongings: RecordBelongings): Line {
  return {
    _type: "memory",
    id: memory.id,
    agent_id: memory.agentId,
    msg_id: memory.msgId,
    content: memory.content,
    source: memory.source,
    timestamp: memory.timestamp,
    metadata: memory.metadata,
    created_at: memory.createdAt,
    project_id: memory.projectId,
    channel: memory.channel,
    locked: memory.locked ? 1 : 0,
    recall_count: belongings.use?.recallCount ?? 0,
    last_recalled_at: belongings.use?.lastRecalledAt ?? null,
    ...vectorKeys(belongings),
    ...(memory.kind === "note" ? {} : { kind: memory.kind }),
    ...(memory.tags.length === 0 ? {} : { tags: memory.tags }),
    ...ownKeys(belongings),
  };
}

export function episodeLine(episode: Episode, belongings: RecordBelongings): Line {
  return {
    _type: "episode",
    id: episode.id,
    agent_id: episode.agentId,
    summary: episode.summary,
    keywords: episode.keywords,
    start_time: episode.startTime,
    end_time: episode.endTime,
    created_at: episode.createdAt,
    resolved: episode.resolved,
    project_id: episode.projectId,
    channel: episode.channel,
    ...vectorKeys(belongings),
    ...(belongings.use === null
      ? {}
      : { recall_count: belongings.use.recallCount, last_recalled_at: belongings.use.lastRecalledAt }),
    ...ownKeys(belongings),
  };
}

export function profileLine({ agentId, userId, content, updatedAt }: MovedProfile): Line {
  return {
    _type: "profile",
    agent_id: agentId,
    user_id: userId,
    content,
    updated_at: updatedAt,
    project_id: "",
  };
}

function ownKeys({ use, relations, usedWith }: RecordBelongings): Line {
  return {
    ...(use === null || use.weight === 0 ? {} : { use_weight: use.weight }),
    ...(relations.length === 0
      ? {}
      : {
          relations: relations.map(({ to, type, createdAt }) => ({
            type,
            ref: formatRef(recordOfKey(to)),
            created_at: createdAt,
          })),
        }),
    ...(usedWith.length === 0
      ? {}
      : {
          used_with: usedWith.map(({ key, weight, moment }) => ({
            ref: formatRef(recordOfKey(key)),
            weight,
            moment,
          })),
        }),
  };
}

/** One vector a record is what the format has; a text in several blocks has them beside its mean. */
function vectorKeys({ vectors }: RecordBelongings): Line {
  const [first] = vectors?.blocks ?? [];
  if (vectors === null || first === undefined) return {};
  const blocks = vectors.blocks;
  return {
    embedding_b64: encodeVector(blocks.length === 1 ? first.vector : unitMean(blocks)),
    embedding_model: vectors.identity,
    ...(blocks.length === 1 && first.startChar === 0
      ? {}
      : {
          embedding_blocks: blocks.map(({ startChar, endChar, vector }) => [
            startChar,
            endChar,
            encodeVector(vector),
          ]),
        }),
  };
}

function unitMean(blocks: readonly EmbeddedBlock[]): Float32Array {
  const sum = new Float32Array(blocks[0]?.vector.length ?? 0);
  for (const { vector } of blocks) for (const [i, value] of vector.entries()) sum[i] = (sum[i] ?? 0) + value;
  return toUnit(sum);
}

/** The vector at length 1; a zero vector stays as it is. */
export function toUnit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  // A vector that has unit length already keeps its exact bits, so that it goes out as it came in.
  return length === 0 || Math.abs(length - 1) < 1e-5 ? vector : vector.map((value) => value / length);
}
