import { z } from "zod";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields, sessionKey } from "../fields.js";

export const deleteMemory = defineTool({
  name: "delete_memory",
  description: "Delete one memory for good, by the number in its ref. Locked rows refuse.",
  input: z.object({ memory_id: z.int().min(1), agent_id: agentId, session_key: sessionKey }),
  output: z.object({ deleted_id: z.unknown().optional(), ...answerFields }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  paused: () => ({ ok: true, deleted_id: null }),
  async handle(input, service) {
    await service.deleteMemory(input.memory_id, { agentId: input.agent_id });
    return { ok: true, deleted_id: input.memory_id };
  },
});
