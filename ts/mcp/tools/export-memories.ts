import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { exportAnswer } from "../../response/maintenance-answers.js";
import { defineTool } from "../define-tool.js";
import { answerFields, sessionKey } from "../fields.js";

export const exportMemories = defineTool({
  name: "export_memories",
  description:
    "Write an agent's memories, episodes and profile to a JSON Lines file; replaces an older export there.",
  input: z.object({
    agent_id: z.string().describe('spelled out; "" = all agents'),
    output_path: z.string(),
    include_embeddings: z.boolean().default(false),
    session_key: sessionKey,
  }),
  output: z.object({ path: z.string().optional(), memories: z.number().optional(), ...answerFields }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async handle(input, service, { caller, progress }) {
    const written = await service.maintenance.exportMemories({
      agentId: input.agent_id,
      outputPath: input.output_path,
      embeddings: input.include_embeddings,
      progress,
      checkReplaced: (agentId) => {
        if (caller?.mayWrite(agentId) === false)
          throw new MemoryError("permission_denied", "output_path holds an export that you may not replace");
      },
    });
    return exportAnswer(written);
  },
});
