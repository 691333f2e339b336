import { z } from "zod";
import { contentsAnswer } from "../../response/contents.js";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields } from "../fields.js";

export const getContents = defineTool({
  name: "get_contents",
  description: "Read whole rows by the refs that recall gave. Unknown and foreign refs come back in missing.",
  input: z.object({
    refs: z.array(z.any()).min(1).max(20).describe("mem:12, or for a part {ref, span: [start, end]}"),
    agent_id: agentId,
  }),
  output: z.object({
    items: z.array(z.looseObject({})).optional(),
    missing: z.array(z.string()).optional(),
    ...answerFields,
  }),
  maxResultChars: 60_000,
  hints: { readOnlyHint: true, openWorldHint: false },
  handle: (input, service) => contentsAnswer(service.getContents(input.refs, { agentId: input.agent_id })),
});
