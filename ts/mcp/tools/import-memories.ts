import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { importAnswer } from "../../response/maintenance-answers.js";
import { defineTool } from "../define-tool.js";
import { answerFields, sessionKey } from "../fields.js";

export const importMemories = defineTool({
  name: "import_memories",
  description:
    "Take in an export, or a database file of CPersona. Nothing that is stored is overwritten, a second import adds nothing; a cut or damaged file changes nothing.",
  input: z.object({
    input_path: z.string(),
    target_agent_id: z.string().default("").describe("whose they become; default as in the file"),
    dry_run: z.boolean().default(false),
    any_version: z.boolean().default(false),
    session_key: sessionKey,
  }),
  output: z.object({
    imported_memories: z.number().optional(),
    skipped_memories: z.number().optional(),
    errors: z.array(z.string()).optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async handle(input, service, { caller, progress }) {
    const paused = service.pauses.state(input.session_key ?? "").paused;
    const outcome = await service.maintenance.importMemories({
      inputPath: input.input_path,
      targetAgent: input.target_agent_id,
      dryRun: input.dry_run || paused,
      anyVersion: input.any_version,
      progress,
      checkAgents: (agents) => {
        for (const agentId of agents)
          if (caller?.mayRead(agentId) === false)
            throw new MemoryError(
              "permission_denied",
              "input_path holds rows of agents that you may not read",
            );
      },
    });
    return { ...importAnswer(outcome), ...(paused ? { persisted: false } : {}) };
  },
});
