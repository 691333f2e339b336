// What each tool demands of its caller, as data. A tool that is not in the table is refused.

import type { Config } from "../config.js";
import { type Caller, EVERY_AGENT } from "./access.js";
import { MaintenanceService } from "./maintenance-service.js";

export type Level = "read" | "read-write";

export interface Demand {
  /** `*` for every agent */
  readonly agentId: string;
  readonly level: Level;
}

type Arguments = Readonly<Record<string, unknown>>;
type DemandRule = (args: Arguments, config: Config) => readonly Demand[];

/** A call that leaves the agent out means the configured one; an empty agent means every agent. */
function agentOf(args: Arguments, config: Config, field = "agent_id"): string {
  const given = args[field] ?? (field === "agent_id" ? config.agentId : "");
  return typeof given === "string" && given !== "" ? given : EVERY_AGENT;
}

const anybody: DemandRule = () => [];
const reads: DemandRule = (args, config) => [{ agentId: agentOf(args, config), level: "read" }];
const writes: DemandRule = (args, config) => [{ agentId: agentOf(args, config), level: "read-write" }];
const writesAll: DemandRule = () => [{ agentId: EVERY_AGENT, level: "read-write" }];

/** Checks that repair reach every agent unless they are told to repair rows of one. */
const checksHealth: DemandRule = (args, config) => {
  if (args["fix"] !== true) return reads(args, config);
  const checks = Array.isArray(args["checks"]) ? args["checks"].map(String) : [];
  return MaintenanceService.reachesAllAgents(checks) ? writesAll(args, config) : writes(args, config);
};
const checksDeeply: DemandRule = (args, config) => (args["fix"] === true ? writes : reads)(args, config);
/** Anywhere on the disk only for those who may write everything. */
const exports: DemandRule = (args, config) =>
  config.maintenance.exportFolder === null ? writesAll(args, config) : writes(args, config);
const imports: DemandRule = (args, config) => {
  if (config.maintenance.exportFolder === null) return writesAll(args, config);
  return [{ agentId: agentOf(args, config, "target_agent_id"), level: "read-write" }];
};
const merges: DemandRule = (args, config) => [
  {
    agentId: agentOf(args, config, "source_agent_id"),
    level: args["mode"] === "move" ? "read-write" : "read",
  },
  { agentId: agentOf(args, config, "target_agent_id"), level: "read-write" },
];

const DEMANDS: Readonly<Record<string, DemandRule>> = {
  persistence_status: anybody,
  get_queue_status: anybody,
  get_operating_context: anybody,
  recall: reads,
  recall_with_context: reads,
  ambient_recall: reads,
  get_contents: reads,
  get_profile: reads,
  get_recall_precision: reads,
  list_memories: reads,
  list_episodes: reads,
  store: writes,
  relate: writes,
  update_memory: writes,
  update_profile: writes,
  archive_episode: writes,
  lock_memory: writes,
  unlock_memory: writes,
  delete_memory: writes,
  delete_episode: writes,
  delete_agent_data: writes,
  calibrate_threshold: writes,
  set_recall_precision: writes,
  // A pause of the bucket without a key silences everybody who shares the process.
  pause_persistence: writesAll,
  resume_persistence: writesAll,
  check_health: checksHealth,
  deep_check: checksDeeply,
  export_memories: exports,
  import_memories: imports,
  merge_memories: merges,
};

/** What a caller lacks for a call. */
export interface Refusal {
  readonly clientId: string;
  readonly tool: string;
  /** null for a tool that nobody may call */
  readonly demand: Demand | null;
}

/** Null when the caller may make this call. */
export function refusalOf(caller: Caller, tool: string, args: Arguments, config: Config): Refusal | null {
  const rule = Object.hasOwn(DEMANDS, tool) ? DEMANDS[tool] : undefined;
  if (rule === undefined) return { clientId: caller.clientId, tool, demand: null };
  const demand = rule(args, config).find(
    ({ agentId, level }) => !(level === "read" ? caller.mayRead(agentId) : caller.mayWrite(agentId)),
  );
  return demand === undefined ? null : { clientId: caller.clientId, tool, demand };
}

export function hasDemand(tool: string): boolean {
  return Object.hasOwn(DEMANDS, tool);
}
