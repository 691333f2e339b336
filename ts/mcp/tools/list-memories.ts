import { z } from "zod";
import { memoryListAnswer } from "../../response/contents.js";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields, channel, listCursor, projectId, readCursor } from "../fields.js";

export const listMemories = defineTool({
  name: "list_memories",
  description: "List memories, newest first, to look through or clean up. To find something, use recall.",
  input: z.object({
    agent_id: agentId.describe('"" = all agents'),
    project_id: projectId,
    channel,
    cursor: listCursor,
    limit: z.int().min(0).max(500).default(100),
  }),
  output: z.object({
    memories: z.array(z.looseObject({})).optional(),
    count: z.number().optional(),
    next_cursor: z.string().optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: true, openWorldHint: false },
  handle: (input, service) =>
    memoryListAnswer(
      service.listMemories({
        agentId: input.agent_id,
        projectId: input.project_id,
        channel: input.channel,
        limit: input.limit + 1,
        after: readCursor(input.cursor),
      }),
      service.config.response,
      input.limit,
    ),
});
