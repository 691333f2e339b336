import { z } from "zod";
import { defineTool } from "../define-tool.js";
import { answerFields } from "../fields.js";

export const getQueueStatus = defineTool({
  name: "get_queue_status",
  description: "How many rows wait for a vector; they are filled in by themselves.",
  input: z.object({}),
  output: z.object({ pending: z.number().optional(), ...answerFields }),
  hints: { readOnlyHint: true, openWorldHint: false },
  handle(_, service) {
    const { enabled, pending, maxRetries, retryDelaySeconds } = service.maintenance.queueStatus();
    return { enabled, pending, max_retries: maxRetries, retry_delay: retryDelaySeconds };
  },
});
