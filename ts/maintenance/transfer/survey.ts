// The first reading of a file: is it whole, what is in it, and may its vectors be used. Nothing is written.

import { dot } from "../../domain/dot.js";
import { recordKey } from "../../domain/record.js";
import { RELATION_TYPES, type RelationType } from "../../domain/relation.js";
import { decodeVector, readVector } from "../../domain/vector-bytes.js";
import { type EmbedderIdentity, identityKey } from "../../embedding/embedder.js";
import { invalidArgument, MemoryError } from "../../errors.js";
import { nextTurn } from "../../next-turn.js";
import { normaliseText } from "../../text/normalise.js";
import type { FileRelation } from "./read-record.js";
import type { RecordSource } from "./source.js";
import { idOf, isKnownVersion, type Line, toUnit } from "./wire.js";

/** Types whose number a header declares. */
const COUNTED = {
  memory: "memory_count",
  episode: "episode_count",
  profile: "profile_count",
  entity: "entity_count",
  mention: "mention_count",
  relation: "relation_count",
  folder: "folder_count",
  folder_member: "folder_member_count",
} as const;
export type RecordType = keyof typeof COUNTED;

export interface Survey {
  readonly counts: Readonly<Record<RecordType, number>>;
  readonly hasHeader: boolean;
  readonly agents: ReadonlySet<string>;
  readonly lastIds: { readonly mem: number; readonly ep: number };
  /** records without a project in a file that presents itself as an export */
  readonly withoutProject: { readonly memories: number; readonly episodes: number };
  /** declared relations between records, of a kind that has a place here */
  readonly relations: readonly FileRelation[];
  /** declared relations that have none, by predicate; `entities` counts those with an entity at an end */
  readonly otherRelations: ReadonlyMap<string, number>;
  readonly unknownTypes: ReadonlyMap<string, number>;
  readonly samples: ReadonlyMap<string, readonly VectorSample[]>;
}

export interface VectorSample {
  readonly text: string;
  readonly vector: Float32Array;
}

const SAMPLES_PER_LABEL = 3;
/** Records read before other calls get their turn. */
const TURN_RECORDS = 500;

/**
 * Throws `damaged_file` for a file that is cut or does not hold what its header says, and `invalid_argument` for a
 * version of the format that is not known, unless any is wanted.
 */
export async function surveySource(source: RecordSource, anyVersion = false): Promise<Survey> {
  const counts: Record<RecordType, number> = {
    memory: 0,
    episode: 0,
    profile: 0,
    entity: 0,
    mention: 0,
    relation: 0,
    folder: 0,
    folder_member: 0,
  };
  let header: Line | null = null;
  const agents = new Set<string>();
  const lastIds = { mem: 0, ep: 0 };
  const relations: FileRelation[] = [];
  const otherRelations = new Map<string, number>();
  const unknownTypes = new Map<string, number>();
  const samples = new Map<string, VectorSample[]>();
  const withoutProject = { memories: 0, episodes: 0 };
  let seen = 0;
  let unread = 0;
  for await (const { line, record, fault } of source.records()) {
    if (++seen % TURN_RECORDS === 0) await nextTurn();
    if (fault !== undefined) {
      unread++;
      continue;
    }
    const type = String(record["_type"] ?? "");
    if (type === "header") {
      if (header !== null) throw inconsistent(`line ${line} is a second header`);
      header = record;
      if (!anyVersion) checkVersion(header);
    } else if (Object.hasOwn(COUNTED, type)) {
      counts[type as RecordType]++;
      if (typeof record["agent_id"] === "string") agents.add(record["agent_id"]);
      if (type === "memory") lastIds.mem = Math.max(lastIds.mem, idOf(record));
      if (type === "episode") lastIds.ep = Math.max(lastIds.ep, idOf(record));
      if (type === "relation") readRelation(record, relations, otherRelations);
      if (type === "memory") sample(record, samples);
      if (record["project_id"] === undefined && type === "memory") withoutProject.memories++;
      if (record["project_id"] === undefined && type === "episode") withoutProject.episodes++;
    } else {
      count(unknownTypes, type);
    }
  }
  if (header !== null) checkCounts(header, counts, unread);
  return {
    counts,
    hasHeader: header !== null,
    agents,
    lastIds,
    withoutProject: header === null ? { memories: 0, episodes: 0 } : withoutProject,
    relations,
    otherRelations,
    unknownTypes,
    samples,
  };
}

function checkVersion({ version }: Line): void {
  if (version === undefined || isKnownVersion(version)) return;
  const named = typeof version === "string" ? version.slice(0, 64) : "one that is no text";
  throw invalidArgument(
    "input_path",
    `names an export of an unknown version (${named}); nothing was imported. any_version (--any-version) takes what can be read of it`,
  );
}

/** A line that could not be read may have been a record of any type. */
function checkCounts(header: Line, counts: Record<RecordType, number>, unread: number): void {
  let missing = 0;
  for (const [type, field] of Object.entries(COUNTED) as [RecordType, string][]) {
    const declared = header[field];
    if (typeof declared !== "number" || !Number.isInteger(declared) || declared === counts[type]) continue;
    missing += declared - counts[type];
    if (declared > counts[type] && missing <= unread) continue;
    throw inconsistent(`its header declares ${declared} ${type} records, it holds ${counts[type]}`);
  }
}

function inconsistent(what: string): MemoryError {
  return new MemoryError(
    "damaged_file",
    `import aborted and rolled back: file truncated or inconsistent: ${what}`,
  );
}

function count(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}

/** CPersona's predicates are free words; ours are five. */
function readRelation(record: Line, relations: FileRelation[], others: Map<string, number>): void {
  const predicate = String(record["predicate"] ?? "");
  const from = recordEnd(record, "subject");
  const to = recordEnd(record, "object");
  const type = knownType(predicate);
  const declared = typeof record["declared_at"] === "string" ? record["declared_at"].slice(0, 64) : "";
  if (from === null || to === null) count(others, "between entities");
  else if (type === null) count(others, predicate.slice(0, 64));
  else relations.push({ from, to, type, createdAt: declared });
}

function knownType(predicate: string): RelationType | null {
  const folded = normaliseText(predicate)
    .toLowerCase()
    .trim()
    .replace(/[\s_-]+/g, "_");
  return RELATION_TYPES.find((type) => type === folded) ?? null;
}

function recordEnd(record: Line, end: "subject" | "object"): number | null {
  const kind = record[`${end}_kind`];
  const id = record[`${end}_id`];
  if ((kind !== "mem" && kind !== "ep") || typeof id !== "number" || !Number.isSafeInteger(id)) return null;
  return recordKey(kind, id);
}

function sample(record: Line, samples: Map<string, VectorSample[]>): void {
  const label = typeof record["embedding_model"] === "string" ? record["embedding_model"] : "";
  const taken = samples.get(label) ?? [];
  if (taken.length >= SAMPLES_PER_LABEL || record["embedding_blocks"] !== undefined) return;
  const given = record["embedding_b64"] ?? record["embedding"];
  const vector =
    typeof given === "string" ? decodeVector(given) : given instanceof Uint8Array ? readVector(given) : null;
  const text = record["content"];
  // Long texts are embedded in part by some servers, so they prove nothing.
  if (vector === null || typeof text !== "string" || text === "" || text.length > 600) return;
  taken.push({ text, vector: toUnit(vector) });
  samples.set(label, taken);
}

/** What checking a label asks the embedder. */
export interface LabelParts {
  /** null while the embedder is off */
  identity(): EmbedderIdentity | null;
  embedDocuments(texts: readonly string[]): Promise<(Float32Array | null)[]>;
}

/** Two runs of one model agree better than this, two models never do. */
const SAME_MODEL_COSINE = 0.999;

/**
 * Labels whose vectors the present embedder made: its own label, or any label whose samples it makes again
 * alike. A label by itself is no proof: CPersona writes "" for most servers.
 */
export async function trustedLabels(
  samples: ReadonlyMap<string, readonly VectorSample[]>,
  labels: Iterable<string>,
  parts: LabelParts,
): Promise<Set<string>> {
  const trusted = new Set<string>();
  const known = parts.identity();
  for (const label of labels) if (known !== null && label === identityKey(known)) trusted.add(label);
  for (const [label, taken] of samples) {
    if (trusted.has(label) || taken.length === 0) continue;
    const again = await parts.embedDocuments(taken.map(({ text }) => text)).catch(() => []);
    const now = parts.identity();
    if (now !== null && label === identityKey(now)) trusted.add(label);
    const alike = taken.every(({ vector }, i) => isAlike(vector, again[i] ?? null));
    if (alike) trusted.add(label);
  }
  return trusted;
}

function isAlike(a: Float32Array, b: Float32Array | null): boolean {
  if (b === null || b.length !== a.length) return false;
  return dot(a, b) >= SAME_MODEL_COSINE;
}
