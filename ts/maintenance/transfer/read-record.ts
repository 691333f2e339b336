// One record of a file, checked and cleaned as a write would be. What breaks a rule refuses that record only,
// with the field and its rule.

import type { Config } from "../../config.js";
import { type Episode, MEMORY_KINDS, type Memory, type MemoryKind } from "../../domain/memory.js";
import { parseRef, recordKey } from "../../domain/record.js";
import { RELATION_TYPES, type RelationType } from "../../domain/relation.js";
import type { Source } from "../../domain/source.js";
import { parseInstant, storageStamp } from "../../domain/time.js";
import { MAX_CO_USE } from "../../domain/use.js";
import { decodeVector, readVector } from "../../domain/vector-bytes.js";
import { invalidArgument } from "../../errors.js";
import { checkJson, checkKey, checkScope, checkText, checkTimestamp } from "../../remember/checks.js";
import type { MovedUse } from "../../store/belongings.js";
import type { EmbeddedBlock } from "../../store/embeddings.js";
import type { MovedProfile } from "../../store/transfer.js";
import { countChars } from "../../text/characters.js";
import { cleanText } from "../../text/clean.js";
import { idOf, type Line, toUnit } from "./wire.js";

/** Relations and shared use as a file names them: by the keys that the records have there. */
export interface FileRelation {
  readonly from: number;
  readonly to: number;
  readonly type: RelationType;
  readonly createdAt: string;
}

export interface FileCoUse {
  readonly low: number;
  readonly high: number;
  readonly weight: number;
  readonly moment: number;
}

/** Vectors with the label of what made them; `label` is "" when the file does not tell. */
export interface FileVectors {
  readonly label: string;
  readonly blocks: readonly EmbeddedBlock[];
}

export interface Extras {
  readonly use: MovedUse | null;
  readonly vectors: FileVectors | null;
  /** the record carries a vector that cannot be read */
  readonly badVector: boolean;
  readonly relations: readonly FileRelation[];
  readonly coUses: readonly FileCoUse[];
}

export interface FileMemory extends Extras {
  readonly memory: Memory;
}

export interface FileEpisode extends Extras {
  readonly episode: Episode;
}

export interface ReadOptions {
  readonly config: Config;
  /** ms since the epoch: the storage time of records that name none */
  readonly now: number;
  /** "" = every record's own agent */
  readonly targetAgent: string;
}

export function readMemory(line: Line, options: ReadOptions): FileMemory {
  const { config } = options;
  const scope = readScope(line, options);
  const content = text(line, "content");
  checkText("content", content);
  const clean = cleanText(content, config.limits.contentChars);
  if (clean.text === "") throw invalidArgument("content", "must not be empty");
  const source = readSource(line);
  const metadata = readMetadata(line);
  checkJson("source", source, config.limits.metadataChars);
  checkJson("metadata", metadata, config.limits.metadataChars);
  const msgId = text(line, "msg_id");
  checkKey("msg_id", msgId);
  const timestamp = text(line, "timestamp");
  checkTimestamp(timestamp);
  const memory: Memory = {
    ...scope,
    id: idOf(line),
    msgId,
    content: clean.text,
    source,
    timestamp,
    metadata,
    locked: line["locked"] === true || line["locked"] === 1,
    kind: readKind(line),
    tags: readTags(line),
    createdAt: readCreatedAt(line, options),
  };
  return { memory, ...readExtras(line, "mem", memory.id, clean.text) };
}

export function readEpisode(line: Line, options: ReadOptions): FileEpisode {
  const { contentChars } = options.config.limits;
  const summary = text(line, "summary");
  checkText("summary", summary);
  const clean = cleanText(summary, contentChars);
  if (clean.text === "") throw invalidArgument("summary", "must not be empty");
  const given = line["keywords"];
  const keywords = Array.isArray(given) ? given.join(" ") : text(line, "keywords");
  checkText("keywords", keywords);
  const episode: Episode = {
    ...readScope(line, options),
    id: idOf(line),
    summary: clean.text,
    keywords: cleanText(keywords, contentChars).text,
    startTime: stamp(line, "start_time"),
    endTime: stamp(line, "end_time"),
    resolved: line["resolved"] === true || line["resolved"] === 1,
    createdAt: readCreatedAt(line, options),
  };
  return { episode, ...readExtras(line, "ep", episode.id, clean.text) };
}

export function readProfile(line: Line, options: ReadOptions): MovedProfile {
  const { agentId } = readScope(line, options);
  const userId = text(line, "user_id");
  checkKey("user_id", userId);
  const content = text(line, "content");
  checkText("content", content);
  const clean = cleanText(content, options.config.limits.profileChars);
  if (clean.text === "") throw invalidArgument("content", "must not be empty");
  const updatedAt = stamp(line, "updated_at") ?? storageStamp(options.now);
  return { agentId, userId, content: clean.text, updatedAt };
}

function readScope(line: Line, { targetAgent }: ReadOptions) {
  const agentId = targetAgent === "" ? text(line, "agent_id") : targetAgent;
  const scope = { agentId, projectId: text(line, "project_id"), channel: text(line, "channel") };
  checkScope(scope);
  return scope;
}

/** A text field; null and absent are "". */
function text(line: Line, field: string): string {
  const value = line[field];
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw invalidArgument(field, "must be a text");
  return value;
}

function stamp(line: Line, field: string): string | null {
  const value = text(line, field);
  checkKey(field, value, 64);
  return value === "" ? null : value;
}

/** The scan window orders by storage time as text, so another spelling of a moment is rewritten. */
function readCreatedAt(line: Line, { now }: ReadOptions): string {
  const value = text(line, "created_at");
  if (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value) && parseInstant(value) !== null) return value;
  return storageStamp(parseInstant(value) ?? now);
}

/** `source_text` and `metadata_text` are columns that were no JSON where they come from. */
function readSource(line: Line): Source {
  if (typeof line["source_text"] === "string") return line["source_text"];
  const source = line["source"];
  if (source === undefined || source === null) return {};
  if (typeof source === "string" || (typeof source === "object" && !Array.isArray(source)))
    return source as Source;
  throw invalidArgument("source", "must be an object");
}

function readMetadata(line: Line): Memory["metadata"] {
  if (typeof line["metadata_text"] === "string") return { text: line["metadata_text"] };
  const metadata = line["metadata"];
  if (metadata === undefined || metadata === null) return {};
  if (typeof metadata !== "object" || Array.isArray(metadata))
    throw invalidArgument("metadata", "must be an object");
  return metadata as Memory["metadata"];
}

function readKind(line: Line): MemoryKind {
  const kind = text(line, "kind");
  if (kind === "") return "note";
  const known = MEMORY_KINDS.find((candidate) => candidate === kind);
  if (known === undefined) throw invalidArgument("kind", `must be one of ${MEMORY_KINDS.join(", ")}`);
  return known;
}

function readTags(line: Line): string[] {
  const tags = line["tags"] ?? [];
  if (!Array.isArray(tags) || tags.length > 32)
    throw invalidArgument("tags", "must be a list of at most 32 texts");
  return tags.map((tag) => {
    if (typeof tag !== "string") throw invalidArgument("tags", "must be a list of at most 32 texts");
    checkKey("tags", tag, 64);
    return tag;
  });
}

function readExtras(line: Line, kind: "mem" | "ep", id: number, content: string): Extras {
  const vectors = readVectors(line, content);
  const key = recordKey(kind, id);
  return {
    use: readUse(line),
    vectors: vectors === "bad" ? null : vectors,
    badVector: vectors === "bad",
    relations: id === 0 ? [] : list(line["relations"]).flatMap((entry) => readRelation(entry, key)),
    coUses: id === 0 ? [] : list(line["used_with"]).flatMap((entry) => readCoUse(entry, key)),
  };
}

function readUse(line: Line): MovedUse | null {
  const recallCount = readCount(line, "recall_count");
  const weight = readAmount(line, "use_weight");
  const lastRecalledAt = stamp(line, "last_recalled_at");
  if (recallCount === 0 && weight === 0 && lastRecalledAt === null) return null;
  // Elsewhere uses are counted without a decaying weight: the count stands in for it.
  return { recallCount, weight: line["use_weight"] === undefined ? recallCount : weight, lastRecalledAt };
}

/** How often something happened; null and absent are 0. */
function readCount(line: Line, field: string): number {
  const value = line[field] ?? 0;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalidArgument(field, `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`);
}

/** Weights of use are sums of small numbers that fade. */
const MAX_WEIGHT = 1e9;

function readAmount(line: Line, field: string, max = MAX_WEIGHT): number {
  const value = line[field] ?? 0;
  if (typeof value === "number" && value >= 0 && value <= max) return value;
  throw invalidArgument(field, `must be a number from 0 to ${max}`);
}

function list(value: unknown): Line[] {
  if (!Array.isArray(value)) return [];
  return value.filter((entry): entry is Line => typeof entry === "object" && entry !== null);
}

function readRelation(entry: Line, from: number): FileRelation[] {
  const to = typeof entry["ref"] === "string" ? parseRef(entry["ref"]) : null;
  const type = RELATION_TYPES.find((candidate) => candidate === entry["type"]);
  if (to === null || type === undefined) return [];
  const createdAt = typeof entry["created_at"] === "string" ? entry["created_at"].slice(0, 64) : "";
  return [{ from, to: recordKey(to.kind, to.id), type, createdAt }];
}

function readCoUse(entry: Line, key: number): FileCoUse[] {
  const other = typeof entry["ref"] === "string" ? parseRef(entry["ref"]) : null;
  const weight = Math.min(readAmount(entry, "weight"), MAX_CO_USE);
  if (other === null || weight === 0) return [];
  return [{ low: key, high: recordKey(other.kind, other.id), weight, moment: readCount(entry, "moment") }];
}

function readVectors(line: Line, content: string): FileVectors | null | "bad" {
  const label = typeof line["embedding_model"] === "string" ? line["embedding_model"] : "";
  const own = line["embedding_blocks"];
  if (Array.isArray(own)) {
    const blocks = own.map(readBlock);
    return blocks.includes(null) || blocks.length === 0
      ? "bad"
      : { label, blocks: blocks as EmbeddedBlock[] };
  }
  const given = line["embedding_b64"] ?? line["embedding"];
  if (given === undefined || given === null) return null;
  const vector =
    typeof given === "string" ? decodeVector(given) : given instanceof Uint8Array ? readVector(given) : null;
  if (vector === null) return "bad";
  return { label, blocks: [{ startChar: 0, endChar: countChars(content), vector: toUnit(vector) }] };
}

function readBlock(entry: unknown): EmbeddedBlock | null {
  if (!Array.isArray(entry)) return null;
  const [startChar, endChar, base64] = entry as unknown[];
  const vector = typeof base64 === "string" ? decodeVector(base64) : null;
  if (vector === null || !isPlace(startChar) || !isPlace(endChar) || endChar < startChar) return null;
  return { startChar, endChar, vector: toUnit(vector) };
}

/** A place in a text, in characters. */
function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
