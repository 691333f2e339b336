// Storing one memory: clean, check, look for a copy, embed, write. Skip, never upsert: a stored row changes
// only through update_memory.

import type { Config } from "../config.js";
import type { WriteScope } from "../domain/scope.js";
import { canonicalSource, defaultSource, type Source } from "../domain/source.js";
import { cleanText, countChars, jsonDefect, textDefect } from "../domain/text.js";
import { parseInstant, storageStamp } from "../domain/time.js";
import { invalidArgument, type MemoryError } from "../errors.js";
import type { NewMemory } from "../store/memories.js";
import type { NewEmbedding } from "../store/store.js";
import type { EmbedText } from "./embed-text.js";

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
}

export interface AheadOfClock {
  readonly timestamp: string;
  readonly aheadBySeconds: number;
  readonly allowanceSeconds: number;
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
  readonly transaction: <T>(work: () => T) => T;
}

/** Throws `invalid_argument` naming field and rule; then nothing was written. */
export async function storeMemory(request: StoreRequest, parts: StoreMemoryParts): Promise<StoreOutcome> {
  const { memory, truncated, aheadOfClock } = prepare(request, parts);
  const copy = findCopy(memory, parts);
  if (copy !== null) return copy;
  const embedding = await parts.embedText(memory.content);
  return parts.transaction((): StoreOutcome => {
    // Another writer may have come first while the text was embedded.
    const lateCopy = findCopy(memory, parts);
    if (lateCopy !== null) return lateCopy;
    const id = parts.addMemory(memory, embedding);
    if (id === null) throw new Error("the unique indexes refused a row that the probes did not find");
    return { result: "stored", id, embedded: embedding !== null, truncated, aheadOfClock };
  });
}

function findCopy(memory: NewMemory, parts: StoreMemoryParts): StoreOutcome | null {
  const sameId = memory.msgId === "" ? null : parts.findByMsgId(memory, memory.msgId);
  if (sameId !== null) return { result: "skipped", id: sameId, reason: "duplicate msg_id" };
  const sameContent = parts.findByContent(memory, memory.content);
  return sameContent === null ? null : { result: "skipped", id: sameContent, reason: "duplicate content" };
}

const MAX_KEY_CHARS = 256;
const MAX_TIMESTAMP_CHARS = 64;

function prepare(
  request: StoreRequest,
  parts: StoreMemoryParts,
): { memory: NewMemory; truncated: boolean; aheadOfClock: AheadOfClock | null } {
  const { config, clock } = parts;
  const { scope, msgId = "", metadata = {} } = request;
  const now = clock.now();
  const content = cleanText(checkText("content", request.content), config.limits.contentChars);
  if (content.text === "") throw invalidArgument("content", "must not be empty");
  checkKey("agent_id", scope.agentId);
  if (scope.agentId === "") throw invalidArgument("agent_id", "must not be empty");
  checkKey("project_id", scope.projectId);
  checkKey("channel", scope.channel);
  checkKey("id", msgId);
  const timestamp =
    request.timestamp === undefined || request.timestamp === ""
      ? new Date(now).toISOString()
      : request.timestamp;
  checkKey("timestamp", timestamp, MAX_TIMESTAMP_CHARS);
  const source = canonicalSource(request.source ?? defaultSource(scope.agentId));
  checkJson("source", source, config.limits.metadataChars);
  checkJson("metadata", metadata, config.limits.metadataChars);
  const memory: NewMemory = {
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

function checkText(field: string, text: string): string {
  const defect = textDefect(text);
  if (defect !== null) throw invalidArgument(field, defect);
  return text;
}

function checkKey(field: string, text: string, maxChars = MAX_KEY_CHARS): void {
  checkText(field, text);
  if (countChars(text) > maxChars) throw invalidArgument(field, `must have at most ${maxChars} characters`);
}

function checkJson(field: string, value: unknown, maxChars: number): void {
  const text = JSON.stringify(value);
  const defect = jsonDefect(text);
  if (defect !== null) throw invalidArgument(field, defect);
  const chars = countChars(text);
  if (chars > maxChars)
    throw invalidArgument(field, `must have at most ${maxChars} characters as JSON, it has ${chars}`);
}

function checkFuture(timestamp: string, now: number, { limits }: Config): AheadOfClock | null {
  const instant = parseInstant(timestamp);
  if (instant === null || limits.futureMode === "off" || instant - now <= limits.futureSkewMs) return null;
  const aheadBySeconds = Math.round((instant - now) / 1000);
  if (limits.futureMode === "reject") throw futureError(aheadBySeconds, limits.futureSkewMs);
  return { timestamp, aheadBySeconds, allowanceSeconds: limits.futureSkewMs / 1000 };
}

function futureError(aheadBySeconds: number, skewMs: number): MemoryError {
  return invalidArgument(
    "timestamp",
    `must be at most ${skewMs / 1000} seconds ahead of the clock, it is ${aheadBySeconds}`,
  );
}
