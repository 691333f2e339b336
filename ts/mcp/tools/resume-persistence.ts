import { z } from "zod";
import { pauseScope } from "../../response/answers.js";
import { defineTool } from "../define-tool.js";
import { answerFields, sessionKey } from "../fields.js";

export const resumePersistence = defineTool({
  name: "resume_persistence",
  description: "End a pause of this session at once.",
  input: z.object({ session_key: sessionKey }),
  output: z.object({
    paused: z.boolean().optional(),
    was_active: z.boolean().optional(),
    expires_at: z.string().nullable().optional(),
    ttl_seconds: z.number().optional(),
    ttl_remaining_seconds: z.number().nullable().optional(),
    scope: z.string().optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  handle(input, service) {
    const wasActive = service.pauses.resume(input.session_key ?? "");
    return { paused: false, was_active: wasActive, scope: pauseScope(input.session_key) };
  },
});
