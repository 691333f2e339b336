// "These agents hold memories" must not tell a caller about agents that it may not read.

import type { Caller } from "../service/access.js";

export function onlyVisible<Answer extends { readonly otherAgents?: readonly string[] }>(
  answer: Answer,
  caller: Caller | undefined,
): Answer {
  if (answer.otherAgents === undefined || caller === undefined) return answer;
  const visible = answer.otherAgents.filter((agentId) => caller.mayRead(agentId));
  const { otherAgents: _, ...rest } = answer;
  return (visible.length === 0 ? rest : { ...rest, otherAgents: visible }) as Answer;
}
