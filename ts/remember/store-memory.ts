// Storing one memory: clean, check, look for a copy, embed, write. Skip, never upsert: a stored row changes
// only through update_memory.

import type { Config } from "../config.js";
import type { MemoryKind } from "../domain/memory.js";
import type { RelationType } from "../domain/relation.js";
import type { WriteScope } from "../domain/scope.js";
import { canonicalSource, defaultSource, type Source } from "../domain/source.js";
import { storageStamp } from "../domain/time.js";
import type { NewMemory } from "../store/memories.js";
import type { NewEmbedding } from "../store/store.js";
import type { EmbedText } from "./block-embedder.js";
import {
  type AheadOfClock,
  checkFuture,
  checkJson,
  checkKey,
  checkKind,
  checkScope,
  checkTags,
  checkTimestamp,
  cleanRequired,
} from "./checks.js";

export interface StoreRequest {
  readonly scope: WriteScope;
  readonly content: string;
  /** the caller's idempotency key */
  readonly msgId?: string | undefined;
  /** default: the agent itself */
  readonly source?: Source | undefined;
  /** default: now */
  readonly timestamp?: string | undefined;
  readonly metadata?: { readonly [key: string]: unknown } | undefined;
  /** default `note`; values and intentions are personas */
  readonly kind?: MemoryKind | undefined;
  readonly tags?: readonly string[] | undefined;
  /** edges from the new row; a skipped one gets none */
  readonly relations?: readonly RelationRequest[] | undefined;
}

export interface RelationRequest {
  readonly type: RelationType;
  readonly ref: string;
}

/** What became of it. `id` of a skipped one is the row that holds the text or the msg_id. */
export type StoreOutcome =
  | {
      readonly result: "stored";
      readonly id: number;
      readonly embedded: boolean;
      readonly truncated: boolean;
      readonly aheadOfClock: AheadOfClock | null;
    }
  | { readonly result: "skipped"; readonly id: number; readonly reason: string };

export interface StoreMemoryParts {
  readonly config: Config;
  readonly clock: { now(): number };
  readonly embedText: EmbedText;
  readonly findByMsgId: (scope: WriteScope, msgId: string) => number | null;
  readonly findByContent: (scope: WriteScope, content: string) => number | null;
  readonly addMemory: (memory: NewMemory, embedding: NewEmbedding | null) => number | null;
  /** Runs `work` in one transaction when its turn has come; resolves when it is committed. */
  readonly write: <T>(work: () => T) => Promise<T>;
  /** record keys of the far ends; throws for one that the agent does not have */
  readonly relationTargets: (relations: readonly RelationRequest[]) => { key: number; type: RelationType }[];
  readonly addRelation: (id: number, key: number, type: RelationType, createdAt: string) => void;
}

/** Throws `invalid_argument` naming field and rule; then nothing was written. */
export async function storeMemory(request: StoreRequest, parts: StoreMemoryParts): Promise<StoreOutcome> {
  const { memory, truncated, aheadOfClock } = prepare(request, parts);
  const copy = findCopy(memory, parts);
  if (copy !== null) return copy;
  const embedding = await parts.embedText(memory.content);
  return parts.write((): StoreOutcome => {
    // Another writer may have come first while the text was embedded.
    const lateCopy = findCopy(memory, parts);
    if (lateCopy !== null) return lateCopy;
    const targets = parts.relationTargets(request.relations ?? []);
    const id = parts.addMemory(memory, embedding);
    if (id === null) throw new Error("the unique indexes refused a row that the probes did not find");
    for (const { key, type } of targets) parts.addRelation(id, key, type, memory.createdAt);
    return { result: "stored", id, embedded: embedding !== null, truncated, aheadOfClock };
  });
}

function findCopy(memory: NewMemory, parts: StoreMemoryParts): StoreOutcome | null {
  const sameId = memory.msgId === "" ? null : parts.findByMsgId(memory, memory.msgId);
  if (sameId !== null) return { result: "skipped", id: sameId, reason: "duplicate msg_id" };
  const sameContent = parts.findByContent(memory, memory.content);
  return sameContent === null ? null : { result: "skipped", id: sameContent, reason: "duplicate content" };
}

interface Prepared {
  readonly memory: NewMemory;
  readonly truncated: boolean;
  readonly aheadOfClock: AheadOfClock | null;
}

function prepare(request: StoreRequest, { config, clock }: StoreMemoryParts): Prepared {
  const { scope, msgId = "", metadata = {} } = request;
  const now = clock.now();
  const content = cleanRequired("content", request.content, config.limits.contentChars);
  checkScope(scope);
  checkKey("id", msgId);
  const timestamp = request.timestamp || new Date(now).toISOString();
  checkTimestamp(timestamp);
  const source = canonicalSource(request.source ?? defaultSource(scope.agentId));
  checkJson("source", source, config.limits.metadataChars);
  checkJson("metadata", metadata, config.limits.metadataChars);
  const memory = {
    kind: checkKind(request.kind ?? "note"),
    tags: checkTags(request.tags ?? []),
    ...scope,
    msgId,
    content: content.text,
    source,
    timestamp,
    metadata,
    createdAt: storageStamp(now),
  };
  return { memory, truncated: content.truncated, aheadOfClock: checkFuture(timestamp, now, config) };
}
