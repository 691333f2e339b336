// Answers of the tools, as JSON objects: one function a capability.

import type { Episode, Memory } from "../domain/memory.js";
import { MemoryError } from "../errors.js";
import type { RecallTrace } from "../recall/trace.js";
import type { StoreOutcome } from "../remember/store-memory.js";
import type { ContentsAnswer, RecallAnswer } from "../service/memory-service.js";
import type { PauseState } from "../service/persistence.js";
import {
  type RowOptions,
  toItem,
  toListedEpisode,
  toListedMemory,
  toMessage,
  type WireObject,
} from "./rows.js";

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
    ...(answer.gateFallback ? { gate_fallback: true } : {}),
    ...(answer.trace === null ? {} : { trace: traceAnswer(answer.trace) }),
    ...(answer.degraded === null ? {} : { advisory: advisory(answer.degraded) }),
  };
}

function traceAnswer({ stages, openedBy, levels, rows }: RecallTrace): WireObject {
  return {
    stages,
    gate: { opened_by: openedBy, ...levels },
    rows: rows.map(({ fromNeighbours, ...row }) => ({ ...row, from_neighbours: fromNeighbours })),
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

export function episodeListAnswer(episodes: readonly Episode[], options: RowOptions): WireObject {
  return { episodes: episodes.map((episode) => toListedEpisode(episode, options)), count: episodes.length };
}

/** Which pause a session key means. */
export function pauseScope(sessionKey: string | undefined): "session" | "process" {
  const key = (sessionKey ?? "").trim();
  return key === "" || key === "transport" ? "process" : "session";
}

/** What a write answers while its session is paused: its success shape, and that nothing was kept. */
export function pausedAnswer(success: WireObject, { remainingSeconds }: PauseState): WireObject {
  return {
    ...success,
    persisted: false,
    dry_run: true,
    reason: `this session writes nothing for ${remainingSeconds ?? 0} more seconds; resume_persistence ends that`,
  };
}

/** The one shape of a failure. Words of foreign errors stay in the log. */
export function failureAnswer(error: unknown): WireObject {
  return { ok: false, error: failureText(error) };
}

/** The same for `store`, which reports through `result` and `reason`. */
export function rejectedAnswer(error: unknown): WireObject {
  return { ok: false, result: "rejected", reason: failureText(error) };
}

/** The same for `update_profile`. */
export function profileFailure(error: unknown): WireObject {
  return { ok: false, profiles_updated: 0, error: failureText(error), reason: failureText(error) };
}

/** The same for `archive_episode`. */
export function episodeFailure(error: unknown): WireObject {
  return { ok: false, episode_id: null, error: failureText(error) };
}

export function failureText(error: unknown): string {
  return error instanceof MemoryError ? error.message : "internal error; the server's log has the details";
}
