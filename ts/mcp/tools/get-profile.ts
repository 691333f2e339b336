import { z } from "zod";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields } from "../fields.js";

export const getProfile = defineTool({
  name: "get_profile",
  description: "Read the profile of the agent's user; empty when there is none.",
  input: z.object({ agent_id: agentId }),
  output: z.object({ profile: z.string().optional(), ...answerFields }),
  hints: { readOnlyHint: true, openWorldHint: false },
  handle(input, service) {
    return { profile: service.getProfile({ agentId: input.agent_id }) };
  },
});
