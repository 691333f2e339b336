// Fields that several tools share, with the words an agent reads.

import { z } from "zod";
import { type ListCursor, parseCursor } from "../domain/cursor.js";
import { invalidArgument } from "../errors.js";
import type { MemoryService } from "../service/memory-service.js";

export const MAX_QUERY_CHARS = 100_000;

export const agentId = z.string().optional().describe("default: the configured agent");
export const channel = z.string().optional().describe("this channel and the shared one");
export const projectId = z
  .string()
  .optional()
  .describe('this project and the global pool; "" global only, "*" all');
export const sourceId = z
  .string()
  .optional()
  .describe("memories of this source id; a prefix if it ends in punctuation");
export const writeChannel = z.string().optional();
export const writeProject = z.string().optional().describe('"": global pool');
export const sessionKey = z.string().max(256).optional();

/** Whether a check may repair: a session that writes nothing for now only looks. */
export function repairsOf(
  input: { readonly fix: boolean; readonly session_key?: string | undefined },
  service: MemoryService,
): { readonly fix: boolean; readonly note: Readonly<Record<string, unknown>> } {
  const { paused } = service.pauses.state(input.session_key ?? "");
  if (!paused || !input.fix) return { fix: input.fix, note: {} };
  const reason = "this session writes nothing for now; resume_persistence ends that";
  return { fix: false, note: { repairs_skipped: true, repairs_skip_reason: reason } };
}

export const listCursor = z.string().optional().describe("next_cursor of the page before");

export function readCursor(cursor: string | undefined): ListCursor | undefined {
  if (cursor === undefined || cursor === "") return undefined;
  const parsed = parseCursor(cursor);
  if (parsed === null) throw invalidArgument("cursor", "must be the next_cursor of an earlier answer");
  return parsed;
}

/** Keys that every answer may have. */
export const answerFields = { ok: z.boolean().optional(), error: z.string().optional() };

/** Keys of the answers about a pause. */
export const persistenceFields = {
  paused: z.boolean().optional(),
  was_active: z.boolean().optional(),
  expires_at: z.string().nullable().optional(),
  ttl_seconds: z.number().optional(),
  ttl_remaining_seconds: z.number().nullable().optional(),
  scope: z.string().optional(),
  ...answerFields,
};
