import { z } from "zod";
import { ambientAnswer } from "../../response/ambient-answer.js";
import { defineTool } from "../define-tool.js";
import { agentId, channel, MAX_QUERY_CHARS, projectId } from "../fields.js";

export const ambientRecall = defineTool({
  name: "ambient_recall",
  description:
    "Background memories for a prompt as one short text block, for hooks. Passive. For a question of your own use recall.",
  input: z.object({
    query: z.string().max(MAX_QUERY_CHARS).describe("the current prompt"),
    history: z.array(z.string()).max(20).optional().describe("earlier prompts, oldest first"),
    direct_k: z.int().min(1).max(10).optional(),
    min_score: z.number().min(0).max(1).optional(),
    min_chars: z.int().min(0).optional(),
    exclude_tags: z.array(z.string()).max(32).optional().describe("leaves out tags containing these"),
    expose_breakdown: z.boolean().optional(),
    recently_surfaced: z.looseObject({}).optional().describe("ref: times shown"),
    session_key: z.string().max(256).optional().describe("damps what this session was shown"),
    format: z.enum(["text", "json"]).default("text"),
    agent_id: agentId,
    project_id: projectId,
    channel,
  }),
  hints: { readOnlyHint: true, openWorldHint: false },
  restDefaults: { format: "json" },
  async handle(input, service) {
    const answer = await service.ambient.recall({
      query: input.query,
      history: input.history,
      directK: input.direct_k,
      minScore: input.min_score,
      minChars: input.min_chars,
      excludeTags: input.exclude_tags,
      exposeBreakdown: input.expose_breakdown,
      recentlySurfaced: numbers(input.recently_surfaced ?? {}),
      sessionKey: input.session_key,
      agentId: input.agent_id,
      projectId: input.project_id,
      channel: input.channel,
    });
    if (input.format === "text") return answer.text;
    return ambientAnswer(answer, service.config.ambient.excerptChars);
  },
});

/** Entries that are no numbers damp nothing. */
function numbers(entries: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(entries).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
}
