import { z } from "zod";
import { profileFailure } from "../../response/answers.js";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields, sessionKey } from "../fields.js";

export const updateProfile = defineTool({
  name: "update_profile",
  description:
    "Replace the one profile text of the agent's user: who they are and how they like to work. The old text is gone.",
  input: z.object({ profile: z.string(), agent_id: agentId, session_key: sessionKey }),
  output: z.object({
    profiles_updated: z.number().optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  fail: profileFailure,
  paused: () => ({ ok: true, profiles_updated: 0 }),
  async handle(input, service) {
    const { truncated } = await service.updateProfile(input.profile, { agentId: input.agent_id });
    return { ok: true, profiles_updated: 1, ...(truncated ? { truncated: true } : {}) };
  },
});
