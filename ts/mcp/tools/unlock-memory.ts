import { z } from "zod";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields, sessionKey } from "../fields.js";

export const unlockMemory = defineTool({
  name: "unlock_memory",
  description: "End the protection of a locked memory.",
  input: z.object({ memory_id: z.int().min(1), agent_id: agentId, session_key: sessionKey }),
  output: z.object({ unlocked_id: z.unknown().optional(), ...answerFields }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  paused: () => ({ ok: true, unlocked_id: null }),
  async handle(input, service) {
    await service.setLocked(input.memory_id, false, { agentId: input.agent_id });
    return { ok: true, unlocked_id: input.memory_id };
  },
});
