import { z } from "zod";
import { pauseScope } from "../../response/answers.js";
import { defineTool } from "../define-tool.js";
import { persistenceFields, sessionKey } from "../fields.js";

export const resumePersistence = defineTool({
  name: "resume_persistence",
  description: "End a pause of this session at once.",
  input: z.object({ session_key: sessionKey }),
  output: z.object(persistenceFields),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  handle(input, service) {
    const wasActive = service.pauses.resume(input.session_key ?? "");
    return { paused: false, was_active: wasActive, scope: pauseScope(input.session_key) };
  },
});
