import { z } from "zod";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields, sessionKey } from "../fields.js";

export const lockMemory = defineTool({
  name: "lock_memory",
  description: "Protect one memory against edits and deletion. It does not rank higher for that.",
  input: z.object({ memory_id: z.int().min(1), agent_id: agentId, session_key: sessionKey }),
  output: z.object({ locked_id: z.unknown().optional(), ...answerFields }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  paused: () => ({ ok: true, locked_id: null }),
  async handle(input, service) {
    await service.setLocked(input.memory_id, true, { agentId: input.agent_id });
    return { ok: true, locked_id: input.memory_id };
  },
});
