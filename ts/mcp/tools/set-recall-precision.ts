import { z } from "zod";
import { failureText } from "../../response/answers.js";
import { precisionSetAnswer } from "../../response/calibration-answer.js";
import { betaOf } from "../../service/calibration-service.js";
import { defineTool } from "../define-tool.js";
import { answerFields, sessionKey } from "../fields.js";

export const setRecallPrecision = defineTool({
  name: "set_recall_precision",
  description:
    "Make recall stricter (fewer unrelated rows) or more lenient (fewer misses) for an agent; empty goes back to the default.",
  input: z.object({
    agent_id: z.string(),
    precision: z.enum(["strict", "balanced", "lenient", ""]).default(""),
    beta: z
      .number()
      .min(0)
      .default(0)
      .describe("raw weight instead of a name; 2 strict, 1 balanced, 0.5 lenient"),
    session_key: sessionKey,
  }),
  output: z.object({ precision: z.string().optional(), beta: z.number().optional(), ...answerFields }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  paused: ({ agent_id }) => ({ ok: true, agent_id, cleared: false }),
  async handle(input, service) {
    const { agent_id: agentId, precision } = input;
    const beta = input.beta > 0 ? input.beta : precision === "" ? null : betaOf(precision);
    try {
      const outcome = await service.calibration.setPrecision(agentId, beta);
      return precisionSetAnswer(agentId, beta, service.calibration.precision(agentId), outcome);
    } catch (error) {
      return {
        ok: false,
        agent_id: agentId,
        precision,
        beta: beta ?? 0,
        cleared: false,
        error: failureText(error),
      };
    }
  },
});
