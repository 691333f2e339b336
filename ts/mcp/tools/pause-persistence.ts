import { z } from "zod";
import { pauseScope } from "../../response/answers.js";
import { defineTool } from "../define-tool.js";
import { persistenceFields, sessionKey } from "../fields.js";

export const pausePersistence = defineTool({
  name: "pause_persistence",
  description: "Write nothing for a while in this session; reads go on. Ends by itself after ttl_seconds.",
  input: z.object({ ttl_seconds: z.int().min(1).max(86_400).default(1800), session_key: sessionKey }),
  output: z.object(persistenceFields),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  handle(input, service) {
    const { expiresAt } = service.pauses.pause(input.session_key ?? "", input.ttl_seconds);
    return {
      paused: true,
      expires_at: expiresAt,
      ttl_seconds: input.ttl_seconds,
      scope: pauseScope(input.session_key),
    };
  },
});
