import { z } from "zod";
import { MEMORY_KINDS } from "../../domain/memory.js";
import { RELATION_TYPES } from "../../domain/relation.js";
import { invalidArgument } from "../../errors.js";
import { rejectedAnswer, storeAnswer } from "../../response/answers.js";
import type { StoreArguments } from "../../service/memory-service.js";
import { defineTool } from "../define-tool.js";
import { agentId, sessionKey, writeChannel, writeProject } from "../fields.js";

const memory = {
  content: z.string().optional().describe("one self-contained statement"),
  id: z.string().optional().describe("your idempotency key"),
  source: z.looseObject({}).optional().describe("{type: User|Agent|System, id, name}"),
  timestamp: z.string().optional().describe("ISO 8601; default now"),
  metadata: z.looseObject({}).optional(),
};

export const store = defineTool({
  name: "store",
  description:
    "Keep one fact, decision, correction or preference for later sessions. The same text or id is skipped, never overwritten: use update_memory to change a row.",
  input: z.object({
    ...memory,
    agent_id: agentId,
    project_id: writeProject,
    channel: writeChannel,
    kind: z.enum(MEMORY_KINDS).optional().describe("value and intention say who you act as"),
    tags: z.array(z.string()).max(32).optional(),
    relations: z
      .array(z.object({ type: z.enum(RELATION_TYPES), ref: z.string() }))
      .max(64)
      .optional()
      .describe("this row derived_from, supersedes, contradicts … ref"),
    lock: z.boolean().optional().describe("protect it against edits and deletion"),
    session_key: sessionKey,
    message: z
      .looseObject(memory)
      .optional()
      .describe("older form: content, id, source, timestamp, metadata in one object"),
  }),
  output: z.object({
    ok: z.boolean().optional(),
    result: z.enum(["stored", "skipped", "rejected"]).optional(),
    id: z.unknown().optional(),
    reason: z.string().optional(),
    embedded: z.boolean().optional(),
    truncated: z.boolean().optional(),
    locked: z.boolean().optional(),
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  fail: rejectedAnswer,
  paused: () => ({ ok: true, result: "skipped", id: "no-persist" }),
  async handle(input, service) {
    const {
      message,
      agent_id,
      project_id,
      channel,
      lock,
      kind,
      tags,
      relations,
      session_key: _,
      ...flat
    } = input;
    if (message !== undefined && Object.values(flat).some((value) => value !== undefined)) {
      throw invalidArgument(
        "message",
        "must not be mixed with content, id, source, timestamp or metadata beside it",
      );
    }
    const given = message ?? flat;
    if (given.content === undefined) throw invalidArgument("content", "is required");
    const request: StoreArguments = {
      agentId: agent_id,
      projectId: project_id,
      channel,
      content: given.content,
      msgId: given.id,
      source: given.source,
      timestamp: given.timestamp,
      metadata: given.metadata,
      kind,
      tags,
      relations,
    };
    const outcome = await service.store(request);
    if (lock !== true) return storeAnswer(outcome);
    await service.setLocked(outcome.id, true, { agentId: agent_id });
    return { ...storeAnswer(outcome), locked: true };
  },
});
