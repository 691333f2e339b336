import { z } from "zod";
import { deepAnswer } from "../../response/maintenance-answers.js";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields, repairsOf, sessionKey } from "../fields.js";

export const deepCheck = defineTool({
  name: "deep_check",
  description:
    "Slower looks at one agent's rows: near duplicates, very short texts, stale profile. fix deletes the short texts that are not locked.",
  input: z.object({
    agent_id: agentId,
    fix: z.boolean().default(false),
    checks: z.array(z.string()).max(64).default([]).describe("none = all"),
    session_key: sessionKey,
  }),
  output: z.object({ results: z.looseObject({}).optional(), ...answerFields }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async handle(input, service, { progress }) {
    const repairs = repairsOf(input, service);
    const agent = input.agent_id ?? service.config.agentId;
    const report = await service.maintenance.deepCheck({
      agentId: agent,
      fix: repairs.fix,
      checks: input.checks,
      progress,
    });
    return { ...deepAnswer(agent, report, repairs.fix), ...repairs.note };
  },
});
