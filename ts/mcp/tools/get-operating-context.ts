import { z } from "zod";
import { operatingContextAnswer } from "../../response/maintenance-answers.js";
import { defineTool } from "../define-tool.js";
import { answerFields } from "../fields.js";

export const getOperatingContext = defineTool({
  name: "get_operating_context",
  description: "The operator's rules for agents: an overview, or one section of the doctrine in full.",
  input: z.object({ section: z.string().max(256).default("") }),
  output: z.object({ ...answerFields }),
  hints: { readOnlyHint: true, openWorldHint: false },
  handle: async (input, service) =>
    operatingContextAnswer(await service.maintenance.operatingContext(), input.section),
});
