import { z } from "zod";
import { RELATION_TYPES } from "../../domain/relation.js";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields } from "../fields.js";

export const relate = defineTool({
  name: "relate",
  description:
    "Declare how two rows relate, by their refs: from_ref is derived_from, supersedes, contradicts, supports or relates_to to_ref. Nothing is inferred.",
  input: z.object({
    from_ref: z.string(),
    to_ref: z.string(),
    type: z.enum(RELATION_TYPES),
    remove: z.boolean().default(false),
    agent_id: agentId,
  }),
  output: z.object({
    result: z.enum(["added", "exists", "removed", "absent"]).optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  handle: async (input, service) => ({
    ok: true,
    result: await service.ambient.relate(input.from_ref, input.to_ref, input.type, {
      remove: input.remove,
      agentId: input.agent_id,
    }),
  }),
});
