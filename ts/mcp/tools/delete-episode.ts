import { z } from "zod";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields, sessionKey } from "../fields.js";

export const deleteEpisode = defineTool({
  name: "delete_episode",
  description: "Delete one episode for good, by the number in its ref.",
  input: z.object({ episode_id: z.int().min(1), agent_id: agentId, session_key: sessionKey }),
  output: z.object({ deleted_id: z.unknown().optional(), ...answerFields }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  paused: () => ({ ok: true, deleted_id: null }),
  async handle(input, service) {
    await service.deleteEpisode(input.episode_id, { agentId: input.agent_id });
    return { ok: true, deleted_id: input.episode_id };
  },
});
