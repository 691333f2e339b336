// Rules that every write keeps: each refusal names the field and the rule, and nothing is written.

import type { Config } from "../config.js";
import { depthDefect } from "../domain/json.js";
import { MEMORY_KINDS, type MemoryKind } from "../domain/memory.js";
import { withoutRecalledBlocks } from "../domain/recalled-block.js";
import type { WriteScope } from "../domain/scope.js";
import { parseInstant } from "../domain/time.js";
import { invalidArgument } from "../errors.js";
import { countChars } from "../text/characters.js";
import { type CleanText, cleanText, jsonDefect, textDefect } from "../text/clean.js";

const MAX_KEY_CHARS = 256;
const MAX_TIMESTAMP_CHARS = 64;

/** A short text such as an id or a stamp: well-formed and at most `maxChars` long. */
export function checkKey(field: string, text: string, maxChars = MAX_KEY_CHARS): void {
  checkText(field, text);
  if (countChars(text) > maxChars) throw invalidArgument(field, `must have at most ${maxChars} characters`);
}

export function checkTimestamp(timestamp: string): void {
  checkKey("timestamp", timestamp, MAX_TIMESTAMP_CHARS);
}

export function checkScope({ agentId, projectId, channel }: WriteScope): void {
  if (agentId === "") throw invalidArgument("agent_id", "must not be empty");
  checkKey("agent_id", agentId);
  checkKey("project_id", projectId);
  checkKey("channel", channel);
}

/** The documented cleaning; a text that is empty then is refused. */
export function cleanRequired(field: string, text: string, maxChars: number): CleanText {
  checkText(field, text);
  const clean = cleanText(withoutRecalledBlocks(text), maxChars);
  if (clean.text === "") throw invalidArgument(field, "must not be empty");
  return clean;
}

export function checkText(field: string, text: string): void {
  const defect = textDefect(text);
  if (defect !== null) throw invalidArgument(field, defect);
}

export function checkJson(field: string, value: unknown, maxChars: number): void {
  const nesting = depthDefect(value);
  if (nesting !== null) throw invalidArgument(field, nesting);
  const text = JSON.stringify(value);
  const defect = jsonDefect(text);
  if (defect !== null) throw invalidArgument(field, defect);
  const chars = countChars(text);
  if (chars > maxChars) {
    throw invalidArgument(field, `must have at most ${maxChars} characters as JSON, it has ${chars}`);
  }
}

const MAX_TAGS = 32;
const MAX_TAG_CHARS = 64;

/** Trimmed, without empty and repeated ones. */
export function checkTags(tags: readonly string[]): string[] {
  const clean = [...new Set(tags.map((tag) => tag.trim()))].filter((tag) => tag !== "");
  if (clean.length > MAX_TAGS) throw invalidArgument("tags", `must be at most ${MAX_TAGS}`);
  for (const [i, tag] of clean.entries()) checkKey(`tags[${i}]`, tag, MAX_TAG_CHARS);
  return clean;
}

export function checkKind(kind: string): MemoryKind {
  const known = MEMORY_KINDS.find((name) => name === kind);
  if (known === undefined) throw invalidArgument("kind", `must be one of ${MEMORY_KINDS.join(", ")}`);
  return known;
}

/** A stamp that lies ahead of the clock by more than the allowance. */
export interface AheadOfClock {
  readonly timestamp: string;
  readonly aheadBySeconds: number;
  readonly allowanceSeconds: number;
}

/** Null when the stamp is fine or nobody wants to know; throws where such stamps are to be refused. */
export function checkFuture(timestamp: string, now: number, { limits }: Config): AheadOfClock | null {
  const instant = parseInstant(timestamp);
  if (instant === null || limits.futureMode === "off" || instant - now <= limits.futureSkewMs) return null;
  const aheadBySeconds = Math.round((instant - now) / 1000);
  const allowanceSeconds = limits.futureSkewMs / 1000;
  if (limits.futureMode === "reject") {
    throw invalidArgument(
      "timestamp",
      `must be at most ${allowanceSeconds} seconds ahead of the clock, it is ${aheadBySeconds}`,
    );
  }
  return { timestamp, aheadBySeconds, allowanceSeconds };
}
