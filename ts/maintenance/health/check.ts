// The health checks as data: what each is called, how bad it is, whether it can be repaired and whom a repair
// reaches. The work is in the files beside this one.

export type Severity = "critical" | "warn" | "info";

export interface HealthCheck {
  readonly name: string;
  /** how bad a finding is, unless it says otherwise */
  readonly severity: Severity;
  readonly repairable: boolean;
  /** `agent`: looks at and repairs rows of the named agent; `store`: always the whole store */
  readonly reach: "agent" | "store";
}

function check(
  name: string,
  severity: Severity,
  reach: HealthCheck["reach"],
  repairable: "repairable" | "reported",
): HealthCheck {
  return { name, severity, reach, repairable: repairable === "repairable" };
}

export const HEALTH_CHECKS = [
  check("sqlite_integrity", "critical", "store", "reported"),
  check("schema_version", "critical", "store", "reported"),
  check("schema_objects", "critical", "store", "repairable"),
  check("fts_integrity", "critical", "store", "repairable"),
  check("embedding_dimension", "critical", "agent", "repairable"),
  check("nonfinite_embedding", "warn", "agent", "repairable"),
  check("null_embedding", "warn", "agent", "repairable"),
  check("null_episode_embedding", "warn", "agent", "repairable"),
  check("embedding_backend", "info", "store", "reported"),
  check("embedding_model", "info", "store", "repairable"),
  check("background_work", "warn", "store", "reported"),
  check("remote_vectors", "warn", "store", "repairable"),
  check("vector_index", "info", "store", "repairable"),
  check("native_core", "info", "store", "reported"),
  check("sqlite_version", "warn", "store", "reported"),
  check("derived_columns", "warn", "agent", "repairable"),
  check("scope_counts", "warn", "store", "repairable"),
  check("orphaned_rows", "warn", "store", "repairable"),
  check("empty_content", "warn", "agent", "repairable"),
  check("oversized_content", "warn", "agent", "repairable"),
  check("oversized_profile", "warn", "agent", "repairable"),
  check("memory_annotation", "info", "agent", "repairable"),
  check("duplicate_content", "info", "agent", "repairable"),
  check("invalid_json", "warn", "agent", "repairable"),
  check("invalid_source_type", "warn", "agent", "repairable"),
  check("anonymous_source", "info", "agent", "reported"),
  check("invalid_timestamp", "info", "agent", "repairable"),
  check("future_timestamp", "warn", "agent", "repairable"),
  check("future_episode_timestamp", "warn", "agent", "repairable"),
  check("axis_hygiene", "warn", "agent", "reported"),
  check("missing_profile", "info", "agent", "reported"),
  check("operating_context_parse", "warn", "store", "reported"),
  check("operating_context_size", "info", "store", "reported"),
  check("file_permissions", "warn", "store", "repairable"),
] as const satisfies readonly HealthCheck[];

/** What a check found. `repairable` counts rows that a repair would change. */
export interface Finding {
  readonly count: number;
  readonly severity?: Severity;
  readonly repairable?: number;
  /** what to do about it, or what a repair does */
  readonly hint?: string;
  /** more about it, with wire names */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface HealthIssue extends Finding {
  readonly check: string;
  readonly severity: Severity;
  /** a check that can repair, and cannot repair this */
  readonly needsReview: boolean;
}
