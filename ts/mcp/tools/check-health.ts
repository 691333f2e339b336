import { z } from "zod";
import { healthAnswer } from "../../response/maintenance-answers.js";
import { defineTool } from "../define-tool.js";
import { agentId, answerFields, repairsOf, sessionKey } from "../fields.js";

export const checkHealth = defineTool({
  name: "check_health",
  description:
    "Check the store, and repair what can be repaired when fix is true; locked rows are never touched. An unknown name in checks answers with the valid ones.",
  input: z.object({
    agent_id: agentId.describe('"" = all agents'),
    fix: z.boolean().default(false),
    checks: z.array(z.string()).max(64).default([]).describe("none = all"),
    session_key: sessionKey,
  }),
  output: z.object({
    status: z.enum(["healthy", "degraded", "unhealthy"]).optional(),
    issues: z.array(z.looseObject({})).optional(),
    ...answerFields,
  }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async handle(input, service, { progress }) {
    const repairs = repairsOf(input, service);
    const report = await service.maintenance.checkHealth({
      agentId: input.agent_id ?? service.config.agentId,
      fix: repairs.fix,
      checks: input.checks,
      progress,
    });
    return { ...healthAnswer(report, repairs.fix), ...repairs.note };
  },
});
