import { z } from "zod";
import { episodeListAnswer } from "../../response/contents.js";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields, channel, listCursor, projectId, readCursor } from "../fields.js";

export const listEpisodes = defineTool({
  name: "list_episodes",
  description: "List session summaries, newest first.",
  input: z.object({
    agent_id: agentId.describe('"" = all agents'),
    project_id: projectId,
    channel,
    cursor: listCursor,
    limit: z.int().min(0).max(200).default(50),
  }),
  output: z.object({
    episodes: z.array(z.looseObject({})).optional(),
    count: z.number().optional(),
    next_cursor: z.string().optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: true, openWorldHint: false },
  handle: (input, service) =>
    episodeListAnswer(
      service.listEpisodes({
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
