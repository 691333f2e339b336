// Answers of the tools, as JSON objects: one function a capability.

import { isStorageFault, MemoryError, retryAfterSeconds } from "../errors.js";
import type { Hit } from "../recall/candidate.js";
import type { RecallTrace } from "../recall/trace.js";
import type { StoreOutcome } from "../remember/store-memory.js";
import type { Advisory } from "../service/advisories.js";
import type { RecallAnswer } from "../service/memory-service.js";
import type { PauseState } from "../service/persistence.js";
import { fitRows, leftOutNote, plainSize, type RowForms, wireSize } from "./budget.js";
import { FULL_CONTENT_CHARS, wholeRows } from "./full-content.js";
import { messageForms, type RecallView, type WireObject } from "./rows.js";

/** The largest answer of all: whole texts with everything around them. Clients are told in `tools/list`. */
export const FULL_ANSWER_CHARS = 300_000;
/** Room for the keys around the rows and for notes on what was left out. */
const FRAME_CHARS = 300;

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

export function recallAnswer(answer: RecallAnswer, view: RecallView): WireObject {
  return shownRows(
    answer,
    view,
    answer.hits.map((hit) => ({ hit })),
    [],
  );
}

/** What a row of the answer is made of: a hit, or something ready made beside the hits. */
export type Shown = { readonly hit: Hit } | { readonly forms: RowForms };

/**
 * The answer with `shown` as its messages, in that order. Where not everything fits, the best hits keep their
 * text first, and what stands beside the hits goes in the order of `beside`, best first.
 */
export function shownRows(
  answer: RecallAnswer,
  view: RecallView,
  shown: readonly Shown[],
  beside: readonly number[],
): WireObject {
  const { whole, isOverBudget } = wholeRows(answer.hits, view);
  const frame = answerFrame(answer);
  const positions = new Map(shown.flatMap((row, i) => ("hit" in row ? [[row.hit, i] as const] : [])));
  const bestFirst = [...answer.hits].reverse().flatMap((hit) => positions.get(hit) ?? []);
  const forms = shown.map((row) =>
    "hit" in row ? messageForms(row.hit, view, whole.has(row.hit)) : row.forms,
  );
  const isFull = view.fullContent === true || view.previewChars <= 0;
  const [budget, size] = isFull ? [FULL_ANSWER_CHARS, plainSize] : [view.budgetChars, wireSize];
  const fitted = fitRows(forms, [...bestFirst, ...beside], budget - size(frame) - FRAME_CHARS, size);
  return {
    messages: fitted.rows.filter((row) => row !== null),
    ...frame,
    ...(isOverBudget ? { full_content_budget_chars: FULL_CONTENT_CHARS } : {}),
    ...leftOutNote(fitted, budget),
  };
}

/** Everything but the rows. */
function answerFrame(answer: RecallAnswer): WireObject {
  return {
    ...(answer.otherAgents === undefined
      ? {}
      : { note: `this agent_id holds no memories; these do: ${answer.otherAgents.join(", ")}` }),
    ...(answer.gateFallback ? { gate_fallback: true } : {}),
    ...(answer.trace === null ? {} : { trace: traceAnswer(answer.trace) }),
    ...(answer.advisory === null ? {} : { advisory: advisoryAnswer(answer.advisory) }),
  };
}

function traceAnswer({ stages, openedBy, levels, rows }: RecallTrace): WireObject {
  return {
    stages,
    gate: { opened_by: openedBy, ...levels },
    rows: rows.map(({ fromNeighbours, ...row }) => ({ ...row, from_neighbours: fromNeighbours })),
  };
}

function advisoryAnswer({ severity, reason, details, scope }: Advisory): WireObject {
  return { degraded: true, severity, reason, ...details, advisory_scope: scope };
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
  return {
    ok: false,
    error: failureText(error),
    ...(error instanceof MemoryError ? error.details : {}),
    ...storageCode(error),
  };
}

/** The same for `store`, which reports through `result` and `reason`. */
export function rejectedAnswer(error: unknown): WireObject {
  return { ok: false, result: "rejected", reason: failureText(error), ...storageCode(error) };
}

/** The same for `update_profile`. */
export function profileFailure(error: unknown): WireObject {
  return {
    ok: false,
    profiles_updated: 0,
    error: failureText(error),
    reason: failureText(error),
    ...storageCode(error),
  };
}

/** The same for `archive_episode`. */
export function episodeFailure(error: unknown): WireObject {
  return { ok: false, episode_id: null, error: failureText(error), ...storageCode(error) };
}

/** What kind of fault of the storage it was, and when to call again: for callers that branch. */
function storageCode(error: unknown): WireObject {
  if (!isStorageFault(error)) return {};
  const seconds = retryAfterSeconds(error.code);
  return { code: error.code, ...(seconds === null ? {} : { retry_after_seconds: seconds }) };
}

export function failureText(error: unknown): string {
  return error instanceof MemoryError ? error.message : "internal error; the server's log has the details";
}
