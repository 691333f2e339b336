import { z } from "zod";
import { calibrationAnswer } from "../../response/calibration-answer.js";
import { defineTool } from "../define-tool.js";
import { answerFields, sessionKey } from "../fields.js";

export const calibrateThreshold = defineTool({
  name: "calibrate_threshold",
  description:
    "Learn anew from which likeness on a row counts as related. Happens by itself as a store grows.",
  input: z.object({
    agent_id: z.string().describe('"" = all agents together'),
    sample_size: z.int().min(0).max(5000).optional(),
    method: z.enum(["separation", "percentile", "zscore"]).optional(),
    z_factor: z.number().optional(),
    percentile: z.number().min(0).max(100).optional(),
    session_key: sessionKey,
  }),
  output: z.object({
    new_threshold: z.number().optional(),
    old_threshold: z.number().optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  paused: () => ({ ok: true, new_threshold: null }),
  async handle(input, service) {
    const percentile = input.percentile ?? 0;
    const outcome = await service.calibration.calibrate(input.agent_id, {
      sampleSize: input.sample_size ?? 0,
      zFactor: input.z_factor ?? 0,
      percentile: percentile > 1 ? percentile / 100 : percentile,
      ...(input.method === undefined ? {} : { method: input.method }),
    });
    return calibrationAnswer(input.agent_id, outcome);
  },
});
