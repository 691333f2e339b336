import { z } from "zod";
import { episodeFailure } from "../../response/answers.js";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields, sessionKey, writeChannel, writeProject } from "../fields.js";

export const archiveEpisode = defineTool({
  name: "archive_episode",
  description:
    "Keep a summary that you wrote of a finished session. It becomes the boundary before which memories rank a little lower.",
  input: z.object({
    summary: z.string(),
    keywords: z.string().optional(),
    history: z.array(z.looseObject({})).optional().describe("messages; their timestamps give start and end"),
    resolved: z.boolean().default(false),
    agent_id: agentId,
    project_id: writeProject,
    channel: writeChannel,
    session_key: sessionKey,
  }),
  output: z.object({
    episode_id: z.number().nullable().optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  fail: episodeFailure,
  paused: () => ({ ok: true, episode_id: null }),
  async handle(input, service) {
    const outcome = await service.archiveEpisode({
      agentId: input.agent_id,
      projectId: input.project_id,
      channel: input.channel,
      summary: input.summary,
      keywords: input.keywords,
      history: input.history,
      resolved: input.resolved,
    });
    return { ok: true, episode_id: outcome.id, ...(outcome.truncated ? { truncated: true } : {}) };
  },
});
