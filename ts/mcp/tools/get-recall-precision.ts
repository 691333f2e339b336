import { z } from "zod";
import { defineTool } from "../define-tool.js";
import { answerFields } from "../fields.js";

export const getRecallPrecision = defineTool({
  name: "get_recall_precision",
  description: "Tell how strict recall is for an agent.",
  input: z.object({ agent_id: z.string() }),
  output: z.object({ precision: z.string().optional(), beta: z.number().optional(), ...answerFields }),
  hints: { readOnlyHint: true, openWorldHint: false },
  handle(input, service) {
    const state = service.calibration.precision(input.agent_id);
    return {
      ok: true,
      agent_id: input.agent_id,
      precision: state.precision,
      beta: state.beta,
      overridden: state.overridden,
      global_precision: state.globalPrecision,
      global_beta: state.globalBeta,
    };
  },
});
