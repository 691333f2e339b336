// What callers hand in to have a store kept or moved, and what they learn of it.

import type { BackfillOutcome } from "../maintenance/backfill.js";
import type { Progress } from "../maintenance/progress.js";
import type { TransferCounts } from "../store/transfer.js";

export interface ExportRequest {
  /** "" = all agents */
  readonly agentId: string;
  readonly outputPath: string;
  readonly embeddings: boolean;
  /** people at a terminal write where they like */
  readonly unconfined?: boolean;
  readonly progress?: Progress | undefined;
  /** throws when the caller may not replace an export of this agent */
  readonly checkReplaced?: ((agentId: string) => void) | undefined;
}

export interface FileImportRequest {
  readonly inputPath: string;
  /** "" = every record's own agent */
  readonly targetAgent: string;
  readonly dryRun: boolean;
  /** an export whose header names a version that is not known is taken too, default false */
  readonly anyVersion?: boolean | undefined;
  readonly unconfined?: boolean;
  readonly progress?: Progress | undefined;
  readonly checkAgents?: ((agents: ReadonlySet<string>) => void) | undefined;
}

export interface HealthCheckRequest {
  /** "" = all agents */
  readonly agentId: string;
  readonly fix: boolean;
  readonly checks: readonly string[];
  readonly progress?: Progress | undefined;
}

/** What the background did in this process. */
export interface SelfMaintenance {
  readonly runs: number;
  readonly lastRunAt: string | null;
  readonly vectorsFilled: number;
  readonly wordsIndexRebuilt: number;
  readonly lastBackfill: BackfillOutcome["end"] | null;
}

export interface HealthStats {
  readonly bytes: number;
  readonly counts: TransferCounts;
  readonly agentCounts: TransferCounts | null;
  readonly pending: number;
  readonly projects: readonly { readonly projectId: string; readonly rows: number }[];
  readonly channels: readonly { readonly channel: string; readonly rows: number }[];
  readonly driver: string;
  readonly sqlite: string;
  readonly native: string;
  readonly embedder: string;
  readonly vectors: { readonly rows: number; readonly behind: number } | null;
  readonly self: SelfMaintenance;
}
