// What a call leaves out comes from the settings: one rule for every door.

import type { Config } from "../config.js";
import type { ReadScope, WriteScope } from "../domain/scope.js";
import { invalidArgument } from "../errors.js";
import type { ScopeArguments } from "./memory-service.js";

const ALL_PROJECTS = "*";

export function writeScope({ agentId, projectId, channel }: ScopeArguments, config: Config): WriteScope {
  const agent = agentId ?? config.agentId;
  if (agent === "") throw invalidArgument("agent_id", "must not be empty");
  const project = projectId ?? config.projectId ?? "";
  if (project === ALL_PROJECTS)
    throw invalidArgument("project_id", 'must name one project; "*" is for reads');
  return { agentId: agent, projectId: project, channel: channel ?? "" };
}

/** Without a project setting a read that names no project sees all of them. */
export function readScope(
  { agentId, projectId, channel }: ScopeArguments,
  config: Config,
  options: { allAgents?: boolean } = {},
): ReadScope {
  const agent = agentId ?? config.agentId;
  if (agent === "" && options.allAgents !== true) throw invalidArgument("agent_id", "must not be empty");
  const project = projectId ?? config.projectId;
  return {
    agentId: agent === "" ? null : agent,
    projectId: project === ALL_PROJECTS ? null : project,
    channel: channel ?? null,
  };
}

/** Everything of the agent, in any project and channel: what a ref or an id may name. */
export function agentScope(scope: ScopeArguments, config: Config): ReadScope {
  return { ...readScope(scope, config), projectId: null, channel: null };
}
