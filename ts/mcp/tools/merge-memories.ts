import { z } from "zod";
import { mergeAnswer } from "../../response/maintenance-answers.js";
import { defineTool } from "../define-tool.js";
import { answerFields, sessionKey } from "../fields.js";

export const mergeMemories = defineTool({
  name: "merge_memories",
  description:
    "Copy or move everything of one agent to another; what the target holds already is skipped and stays at the source.",
  input: z.object({
    source_agent_id: z.string(),
    target_agent_id: z.string(),
    strategy: z.enum(["skip"]).default("skip"),
    mode: z.enum(["copy", "move"]).default("copy"),
    dry_run: z.boolean().default(false),
    session_key: sessionKey,
  }),
  output: z.object({
    merged_memories: z.number().optional(),
    skipped_memories: z.number().optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async handle(input, service, { progress }) {
    const paused = service.pauses.state(input.session_key ?? "").paused;
    const request = {
      sourceAgent: input.source_agent_id,
      targetAgent: input.target_agent_id,
      mode: input.mode,
      dryRun: input.dry_run || paused,
      progress,
    };
    const answer = mergeAnswer(request, await service.maintenance.mergeMemories(request));
    return { ...answer, ...(paused ? { persisted: false } : {}) };
  },
});
