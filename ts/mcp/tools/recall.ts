import { z } from "zod";
import { FULL_ANSWER_CHARS, recallAnswer } from "../../response/answers.js";
import { passageRequest } from "../../response/full-content.js";
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

export const recall = defineTool({
  name: "recall",
  description:
    "Search memories by words and meaning, any language. Rows come weakest first: the LAST one is the best. Long texts are cut; get_contents has them whole.",
  input: z.object({
    query: z.string().max(MAX_QUERY_CHARS).describe("a question or keywords; empty = newest rows"),
    limit: z.int().min(0).max(100).default(10),
    agent_id: agentId,
    project_id: projectId,
    channel,
    source_id: sourceId,
    exclude_contents: z.array(z.string()).max(500).optional().describe("texts you have already"),
    full_content: z.boolean().default(false).describe("whole texts"),
    deep: z.boolean().default(false).describe("lowers the quality gate"),
    trace: z.boolean().default(false).describe("adds why each row is there"),
    session_key: sessionKey,
  }),
  output: z.object({
    messages: z.array(z.looseObject({})).optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: true, openWorldHint: false },
  maxResultChars: FULL_ANSWER_CHARS,
  async handle(input, service, { caller }) {
    const view = { ...service.config.response, fullContent: input.full_content };
    const answer = await service.recall({
      query: input.query,
      limit: input.limit,
      agentId: input.agent_id,
      projectId: input.project_id,
      channel: input.channel,
      sourceId: input.source_id,
      excludeContents: input.exclude_contents,
      deep: input.deep,
      trace: input.trace,
      passages: passageRequest(view),
      sessionKey: input.session_key,
    });
    return recallAnswer(onlyVisible(answer, caller), view);
  },
});
