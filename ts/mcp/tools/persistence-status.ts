import { z } from "zod";
import { pauseScope } from "../../response/answers.js";
import { defineTool } from "../define-tool.js";
import { persistenceFields, sessionKey } from "../fields.js";

export const persistenceStatus = defineTool({
  name: "persistence_status",
  description: "Tell whether this session is paused, and for how long.",
  input: z.object({ session_key: sessionKey }),
  output: z.object(persistenceFields),
  hints: { readOnlyHint: true, openWorldHint: false },
  handle(input, service) {
    const state = service.pauses.state(input.session_key ?? "");
    return {
      paused: state.paused,
      expires_at: state.expiresAt,
      ttl_remaining_seconds: state.remainingSeconds,
      scope: pauseScope(input.session_key),
    };
  },
});
