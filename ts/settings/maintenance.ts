// Settings of what keeps a store whole and moves it.

import { userPath } from "../files.js";
import type { SettingReader } from "./reader.js";

export interface MaintenanceConfig {
  /** `CPERSONA_EXPORT_DIR`: exports and imports of the tools stay inside this folder; null for anywhere */
  readonly exportFolder: string | null;
  /** `CPERSONA_MAX_IMPORT_BYTES`: largest file to import, default 100 MiB */
  readonly maxImportBytes: number;
  /** `CPERSONA_OPERATING_CONTEXT_PATH`: the operator's TOML file, default `~/.cpersona/operating-context.toml`; null: `CPERSONA_OPERATING_CONTEXT=off` */
  readonly operatingContextPath: string | null;
  /** `CPERSONA_TASK_QUEUE_ENABLED`: missing vectors are filled in by themselves, default true */
  readonly backfill: boolean;
  /** `CPERSONA_TASK_MAX_RETRIES`: attempts before a text is left without a vector, default 3 */
  readonly maxRetries: number;
  /** `CPERSONA_TASK_RETRY_DELAY`: seconds before a failing backend is asked again, default 30 */
  readonly retryDelayMs: number;
  /** `CPERSONA_DEGRADED_ADVISORY`: a recall says when the search by meaning is less than whole, default true */
  readonly advisory: boolean;
  /** `CPERSONA_NEAR_DUPLICATE_ROW_CAP`: newest rows that the near-duplicate check compares, default 5000 */
  readonly nearDuplicateRows: number;
}

export function readMaintenance(read: SettingReader): MaintenanceConfig {
  const isOff = read.text("CPERSONA_OPERATING_CONTEXT")?.trim().toLowerCase() === "off";
  const path =
    read.path("CPERSONA_OPERATING_CONTEXT_PATH") ??
    userPath("CPERSONA_OPERATING_CONTEXT_PATH", "~/.cpersona/operating-context.toml");
  return {
    exportFolder: read.path("CPERSONA_EXPORT_DIR") ?? null,
    maxImportBytes: read.integer("CPERSONA_MAX_IMPORT_BYTES", { fallback: 100 << 20, min: 1 }),
    operatingContextPath: isOff ? null : path,
    backfill: read.boolean("CPERSONA_TASK_QUEUE_ENABLED", true),
    maxRetries: read.integer("CPERSONA_TASK_MAX_RETRIES", { fallback: 3, min: 1 }),
    retryDelayMs: read.integer("CPERSONA_TASK_RETRY_DELAY", { fallback: 30, min: 1 }) * 1000,
    advisory: read.boolean("CPERSONA_DEGRADED_ADVISORY", true),
    nearDuplicateRows: read.integer("CPERSONA_NEAR_DUPLICATE_ROW_CAP", { fallback: 5000, min: 2 }),
  };
}
