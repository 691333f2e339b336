import { z } from "zod";
import { FULL_ANSWER_CHARS } from "../../response/answers.js";
import { contextAnswer } from "../../response/context-answer.js";
import { passageRequest } from "../../response/full-content.js";
import { readContext } from "../context-entries.js";
import { defineTool } from "../define-tool.js";
import {
  agentId,
  answerFields,
  channel,
  MAX_QUERY_CHARS,
  projectId,
  sessionKey,
  sourceId,
} from "../fields.js";
import { onlyVisible } from "../visible-agents.js";

export const recallWithContext = defineTool({
  name: "recall_with_context",
  description:
    "Recall merged with the conversation you pass, in chronological order and without repeating it. Unlike recall, the last row is the newest, not the best.",
  input: z.object({
    query: z.string().max(MAX_QUERY_CHARS),
    external_context: z
      .array(z.looseObject({}))
      .max(500)
      .default([])
      .describe("[{role, content, name, user_id, timestamp}]"),
    limit: z.int().min(0).max(100).default(10),
    agent_id: agentId,
    project_id: projectId,
    channel,
    source_id: sourceId,
    full_content: z.boolean().default(false).describe("whole texts"),
    deep: z.boolean().default(false),
    session_key: sessionKey,
  }),
  output: z.object({
    messages: z.array(z.looseObject({})).optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: true, openWorldHint: false },
  maxResultChars: FULL_ANSWER_CHARS,
  async handle(input, service, { caller }) {
    const context = readContext(input.external_context, service.config.context.mode);
    const view = { ...service.config.response, fullContent: input.full_content };
    const answer = await service.recallWithContext(
      {
        query: input.query,
        limit: input.limit,
        agentId: input.agent_id,
        projectId: input.project_id,
        channel: input.channel,
        sourceId: input.source_id,
        deep: input.deep,
        passages: passageRequest(view),
        sessionKey: input.session_key,
      },
      context.entries,
    );
    return contextAnswer(onlyVisible(answer, caller), context, view);
  },
});
