// Answers of the tools, as JSON objects: one function a capability.

import type { Memory } from "../domain/memory.js";
import { MemoryError } from "../errors.js";
import type { StoreOutcome } from "../remember/store-memory.js";
import type { ContentsAnswer, RecallAnswer } from "../service/memory-service.js";
import { type RowOptions, toItem, toListedMemory, toMessage, type WireObject } from "./rows.js";

export function storeAnswer(outcome: StoreOutcome): WireObject {
  if (outcome.result === "skipped")
    return { ok: true, result: "skipped", reason: outcome.reason, id: outcome.id };
  return {
    ok: true,
    result: "stored",
    id: outcome.id,
    embedded: outcome.embedded,
    ...(outcome.truncated ? { truncated: true } : {}),
    ...(outcome.aheadOfClock === null
      ? {}
      : {
          timestamp_ahead_of_clock: {
            timestamp: outcome.aheadOfClock.timestamp,
            ahead_by_seconds: outcome.aheadOfClock.aheadBySeconds,
            allowance_seconds: outcome.aheadOfClock.allowanceSeconds,
          },
        }),
  };
}

export function recallAnswer(answer: RecallAnswer, options: RowOptions): WireObject {
  return {
    messages: answer.hits.map((hit) => toMessage(hit, options)),
    ...(answer.otherAgents === undefined
      ? {}
      : { note: `this agent_id holds no memories; these do: ${answer.otherAgents.join(", ")}` }),
    ...(answer.degraded === null ? {} : { advisory: advisory(answer.degraded) }),
  };
}

function advisory(reason: string): WireObject {
  const isOff = reason === "off";
  return {
    degraded: true,
    severity: isOff ? "hint" : "fault",
    reason: isOff
      ? "embeddings are switched off: rows were found by words only"
      : `embeddings are unavailable: rows were found by words only (${reason})`,
  };
}

/** Whole texts in one answer, so that twenty long rows do not fill an agent's context. */
const CONTENTS_BUDGET_CHARS = 40_000;

export function contentsAnswer({ rows, missing }: ContentsAnswer): WireObject {
  const items: WireObject[] = [];
  const deferred: unknown[] = [];
  let used = 0;
  for (const row of rows) {
    const item = toItem(row);
    const size = JSON.stringify(item).length;
    // The first row always fits: a caller that asks for one gets it.
    if (deferred.length > 0 || (items.length > 0 && used + size > CONTENTS_BUDGET_CHARS))
      deferred.push(item["ref"]);
    else items.push(item);
    used += size;
  }
  return {
    items,
    missing,
    count: items.length,
    ...(deferred.length === 0 ? {} : { deferred, budget_chars: CONTENTS_BUDGET_CHARS }),
  };
}

/** Lists show previews: whole texts are one `get_contents` away. */
export function memoryListAnswer(memories: readonly Memory[], options: RowOptions): WireObject {
  return { memories: memories.map((memory) => toListedMemory(memory, options)), count: memories.length };
}

/** The one shape of a failure. Words of foreign errors stay in the log. */
export function failureAnswer(error: unknown): WireObject {
  return { ok: false, error: failureText(error) };
}

/** The same for `store`, which reports through `result` and `reason`. */
export function rejectedAnswer(error: unknown): WireObject {
  return { ok: false, result: "rejected", reason: failureText(error) };
}

function failureText(error: unknown): string {
  return error instanceof MemoryError ? error.message : "internal error; the server's log has the details";
}
