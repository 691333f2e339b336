import { z } from "zod";
import { defineTool } from "../define-tool.js";
import { answerFields, sessionKey } from "../fields.js";

export const deleteAgentData = defineTool({
  name: "delete_agent_data",
  description: "Delete everything of one agent, locked rows too. There is no way back.",
  input: z.object({ agent_id: z.string().describe("spelled out"), session_key: sessionKey }),
  output: z.object({
    agent_id: z.string().optional(),
    deleted_memories: z.number().optional(),
    deleted_profiles: z.number().optional(),
    deleted_episodes: z.number().optional(),
    deleted_pending_tasks: z.number().optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  paused: ({ agent_id }) => ({
    ok: true,
    agent_id,
    deleted_memories: 0,
    deleted_profiles: 0,
    deleted_episodes: 0,
    deleted_pending_tasks: 0,
  }),
  async handle(input, service) {
    const deleted = await service.deleteAgentData(input.agent_id);
    return {
      ok: true,
      agent_id: input.agent_id,
      deleted_memories: deleted.memories,
      deleted_profiles: deleted.profiles,
      deleted_episodes: deleted.episodes,
      deleted_pending_tasks: 0,
    };
  },
});
