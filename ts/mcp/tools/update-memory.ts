import { z } from "zod";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields, sessionKey } from "../fields.js";

export const updateMemory = defineTool({
  name: "update_memory",
  description:
    "Replace the text of one memory, by the number in its ref; the only way to change what is stored. Locked rows refuse.",
  input: z.object({
    memory_id: z.int().min(1),
    content: z.string(),
    agent_id: agentId,
    session_key: sessionKey,
  }),
  output: z.object({
    updated_id: z.unknown().optional(),
    truncated: z.boolean().optional(),
    embedded: z.boolean().optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  paused: () => ({ ok: true, updated_id: null }),
  async handle(input, service) {
    const outcome = await service.updateMemory(input.memory_id, input.content, { agentId: input.agent_id });
    return {
      ok: true,
      updated_id: outcome.id,
      embedded: outcome.embedded,
      ...(outcome.truncated ? { truncated: true } : {}),
    };
  },
});
