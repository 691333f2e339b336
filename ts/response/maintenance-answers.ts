// Answers of the tools that keep a store whole and move it.

import type { DeepReport } from "../maintenance/deep-check.js";
import type { HealthIssue } from "../maintenance/health/check.js";
import type { HealthReport } from "../maintenance/health/run-checks.js";
import type { MergeOutcome, MergeRequest } from "../maintenance/merge.js";
import type { OperatingContext } from "../maintenance/operating-context.js";
import type { ImportOutcome } from "../maintenance/transfer/import-report.js";
import type { Refusal } from "../service/demands.js";
import type { HealthStats } from "../service/maintenance-service.js";
import type { TransferCounts } from "../store/transfer.js";
import type { WireObject } from "./rows.js";

/** One shape for every tool, `store` too: whoever is refused has not been heard. */
export function refusedAnswer({ tool, demand, clientId }: Refusal): WireObject {
  return {
    ok: false,
    error: "permission_denied",
    tool,
    ...(demand === null ? {} : { agent_id: demand.agentId, required: demand.level }),
    client_id: clientId,
    ...(demand?.agentId === "*"
      ? { detail: "the call is about every agent; name an agent_id to narrow it" }
      : {}),
  };
}

export function healthAnswer(
  report: HealthReport & { readonly stats: HealthStats },
  fix: boolean,
): WireObject {
  const { counts, agentCounts } = report.stats;
  return {
    status: report.status,
    total_memories: (agentCounts ?? counts).memories,
    issues: report.issues.map(toIssue),
    severity_summary: { ...report.summary },
    fixed: fix,
    ...(Object.keys(report.repaired).length === 0 ? {} : { repaired: { ...report.repaired } }),
    checks_run: [...report.checksRun],
    stats: statsAnswer(report.stats),
  };
}

function toIssue({
  check,
  count,
  severity,
  repairable,
  hint,
  details,
  needsReview,
}: HealthIssue): WireObject {
  return {
    type: check,
    check,
    count,
    severity,
    ...(repairable === undefined ? {} : { repairable }),
    ...(hint === undefined ? {} : { hint }),
    ...(needsReview ? { needs_human_review: true } : {}),
    ...details,
  };
}

function statsAnswer(stats: HealthStats): WireObject {
  const { counts, agentCounts, self } = stats;
  const byName = (rows: readonly (readonly [string, number])[]): WireObject =>
    Object.fromEntries(rows.map(([name, n]) => [name === "" ? "(global)" : name, n]));
  return {
    db_size_bytes: stats.bytes,
    memories: (agentCounts ?? counts).memories,
    episodes: (agentCounts ?? counts).episodes,
    profiles: (agentCounts ?? counts).profiles,
    pending_tasks: stats.pending,
    axes: {
      project_id: byName(stats.projects.map(({ projectId, rows }) => [projectId, rows])),
      channel: byName(stats.channels.map(({ channel, rows }) => [channel, rows])),
    },
    ...(agentCounts === null
      ? {}
      : { agent_memories: agentCounts.memories, agent_episodes: agentCounts.episodes }),
    driver: stats.driver,
    sqlite: stats.sqlite,
    native: stats.native,
    embedder: stats.embedder,
    ...(stats.vectors === null
      ? {}
      : { vector_index: { rows: stats.vectors.rows, behind: stats.vectors.behind } }),
    self_maintenance: {
      runs: self.runs,
      last_run: self.lastRunAt,
      vectors_filled: self.vectorsFilled,
      words_index_rebuilt: self.wordsIndexRebuilt,
    },
  };
}

export function deepAnswer(agentId: string, report: DeepReport, fix: boolean): WireObject {
  return {
    agent_id: agentId,
    checks_run: [...report.checksRun],
    results: { ...report.results },
    fixed: fix,
  };
}

export function exportAnswer({
  path,
  memories,
  episodes,
  profiles,
}: TransferCounts & { readonly path: string }): WireObject {
  return { ok: true, path, memories, episodes, profiles };
}

export function importAnswer(outcome: ImportOutcome): WireObject {
  const { associations, folders, leftOut, vectors } = outcome;
  const { entities, mentions, relations } = associations;
  return {
    ok: true,
    dry_run: outcome.dryRun,
    imported_memories: outcome.importedMemories,
    skipped_memories: outcome.skippedMemories,
    imported_episodes: outcome.importedEpisodes,
    skipped_episodes: outcome.skippedEpisodes,
    profile_updated: outcome.updatedProfiles > 0,
    ...(entities + mentions + relations === 0 ? {} : { associations: { entities, mentions, relations } }),
    ...(folders.folders + folders.members === 0 ? {} : { folders: { ...folders } }),
    imported_relations: outcome.relations,
    ...(Object.keys(leftOut).length === 0 ? {} : { left_out: { ...leftOut } }),
    ...(vectors.kept + vectors.dropped === 0 ? {} : { vectors: { ...vectors } }),
    ...(outcome.futureTimestamps === 0 ? {} : { future_timestamps: outcome.futureTimestamps }),
    ...(outcome.futureEpisodeTimestamps === 0
      ? {}
      : { future_episode_timestamps: outcome.futureEpisodeTimestamps }),
    ...(outcome.errors.length === 0 ? {} : { errors: [...outcome.errors] }),
  };
}

export function mergeAnswer(request: MergeRequest, outcome: MergeOutcome): WireObject {
  const { moved, left } = outcome;
  return {
    ok: true,
    dry_run: request.dryRun,
    source_agent_id: request.sourceAgent,
    target_agent_id: request.targetAgent,
    strategy: "skip",
    mode: request.mode,
    merged_memories: outcome.mergedMemories,
    skipped_memories: outcome.skippedMemories,
    merged_episodes: outcome.mergedEpisodes,
    skipped_episodes: outcome.skippedEpisodes,
    profile_copied: outcome.profileCopied,
    skipped_profile: outcome.skippedProfile,
    ...(outcome.relations === 0 ? {} : { merged_relations: outcome.relations }),
    ...(moved === null || request.dryRun
      ? {}
      : {
          source_deleted: {
            ok: true,
            agent_id: request.sourceAgent,
            deleted_memories: moved.memories,
            deleted_profiles: moved.profiles,
            deleted_episodes: moved.episodes,
            deleted_pending_tasks: 0,
          },
        }),
    ...(left === null ? {} : { left_at_source: { ...left } }),
  };
}

const DORMANT = {
  ok: false,
  enabled: false,
  error: "operating context is dormant: no file at CPERSONA_OPERATING_CONTEXT_PATH, or it cannot be read",
};

/** Without a section an overview, else the section's text. */
export function operatingContextAnswer(context: OperatingContext | null, section: string): WireObject {
  if (context === null) return { ...DORMANT };
  const { revision, summary, projectIds, enforce, defaults, doctrine } = context;
  const sections = [...doctrine.keys()];
  if (section === "") {
    return {
      ok: true,
      context_revision: revision,
      instructions_summary: summary,
      registry: { project_ids: [...projectIds], enforce },
      defaults: { ...defaults },
      doctrine_sections: sections,
    };
  }
  const body = doctrine.get(section);
  if (body !== undefined) return { ok: true, context_revision: revision, section, body };
  return { ok: false, error: "section is not one of doctrine_sections", doctrine_sections: sections };
}
