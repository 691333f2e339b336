// The only reader of the environment: variables -> one frozen, typed Config. A bad value warns and falls
// back to the default; only a value that nothing can replace stops the start.

import { join } from "node:path";
import envPaths from "env-paths";
import type { LogLevel } from "./log.js";
import { packageRoot } from "./package-root.js";
import { type AmbientConfig, readAmbient } from "./settings/ambient.js";
import { type EmbeddingConfig, readEmbedding } from "./settings/embedding.js";
import { type HttpConfig, readHttp } from "./settings/http.js";
import { type MaintenanceConfig, readMaintenance } from "./settings/maintenance.js";
import { type ModelSettings, readModels } from "./settings/models.js";
import { projectSetting, shortName } from "./settings/names.js";
import { type Environment, SettingReader } from "./settings/reader.js";
import { type RecallConfig, readRecall } from "./settings/recall.js";
import { type RemoteConfig, readRemote } from "./settings/remote.js";

/** Weight of keeping unrelated rows out, by the name of the precision. */
export const PRECISION_BETAS = { strict: 2, balanced: 1, lenient: 0.5 } as const;

export interface DatabaseConfig {
  /** `CPERSONA_DB_PATH`; default `memory.db` in the user's data directory of the platform */
  readonly path: string;
  /** `CPERSONA_SQLITE_DRIVER`: `auto` (default), `better-sqlite3`, `node:sqlite` */
  readonly driver: "auto" | "better-sqlite3" | "node:sqlite";
  /** `CPERSONA_SYNCHRONOUS`: `NORMAL` (default) survives a killed process, `FULL` a power cut too */
  readonly synchronous: "NORMAL" | "FULL";
  /** `CPERSONA_BUSY_TIMEOUT_MS`: ms a write waits for other processes before it is refused, default 30000 */
  readonly busyTimeoutMs: number;
}

export interface NativeConfig {
  /** `CPERSONA_NATIVE`: `auto` (default), `off` (TypeScript only), `required` (stop without the addon) */
  readonly mode: "auto" | "off" | "required";
  /** `CPERSONA_SIMD`: `auto` (default), `avx512`, `avx2`, `neon`, `scalar` */
  readonly simd: "auto" | "avx512" | "avx2" | "neon" | "scalar";
}

export interface CalibrationConfig {
  /** `CPERSONA_CALIBRATE_ON_MODEL_CHANGE`: calibrate in the background when a store has grown or its embedder changed, default true */
  readonly automatic: boolean;
  /** `CPERSONA_AUTO_CALIBRATE`: calibrate at every start, default false */
  readonly atEveryStart: boolean;
  /** `CPERSONA_CALIBRATE_SAMPLE_SIZE`: records asked about, default 200 */
  readonly sampleSize: number;
  /** `CPERSONA_CALIBRATE_Z_FACTOR`: of method `zscore`, default 1 */
  readonly zFactor: number;
  /** `CPERSONA_CALIBRATE_PERCENTILE`: of method `percentile`, a fraction or a percent, default 0.95 */
  readonly percentile: number;
  /** `CPERSONA_RECALL_PRECISION` (strict 2, balanced 1, lenient 0.5) or `CPERSONA_FUSED_GATE_BETA`: default 1 */
  readonly beta: number;
}

export interface LimitsConfig {
  /** `CPERSONA_MAX_CONTENT_LENGTH`: characters of a memory or an episode summary, default 16000 */
  readonly contentChars: number;
  /** `CPERSONA_MAX_PROFILE_LENGTH`: characters of a profile, default 2000 */
  readonly profileChars: number;
  /** `CPERSONA_MAX_METADATA_LENGTH`: characters of serialised source and metadata each, default 8000 */
  readonly metadataChars: number;
  /** `CPERSONA_FUTURE_TIMESTAMP_SKEW_SECONDS`: how far ahead a timestamp may be, default 300 */
  readonly futureSkewMs: number;
  /** `CPERSONA_FUTURE_TIMESTAMP_MODE`: `warn` (default) notes it, `reject` refuses it, `off` is silent */
  readonly futureMode: "warn" | "reject" | "off";
}

export interface ContextConfig {
  /** `CPERSONA_EXTERNAL_CONTEXT_MODE`: entries with fields of a wrong type: `warn` (default), `reject`, `off` */
  readonly mode: "warn" | "reject" | "off";
}

export interface ResponseConfig {
  /** `CPERSONA_RECALL_PREVIEW_CHARS`: longest content in a recall answer, default 500, 0 shows everything */
  readonly previewChars: number;
  /** `CPERSONA_RECALL_EXCERPT_CHARS`: longest excerpt of a row that the preview cuts, default 800, 0 shows none */
  readonly excerptChars: number;
  /**
   * `CPERSONA_RESPONSE_BUDGET_CHARS`: characters of a whole answer, default 60000: below the 25,000 tokens at
   * which Claude Code hides an answer from its agent. Characters beyond ASCII count twice. Not for full content.
   */
  readonly budgetChars: number;
}

export interface Config {
  readonly database: DatabaseConfig;
  readonly native: NativeConfig;
  readonly embedding: EmbeddingConfig;
  readonly remote: RemoteConfig;
  readonly recall: RecallConfig;
  readonly calibration: CalibrationConfig;
  readonly limits: LimitsConfig;
  readonly maintenance: MaintenanceConfig;
  readonly response: ResponseConfig;
  readonly context: ContextConfig;
  readonly ambient: AmbientConfig;
  readonly http: HttpConfig;
  /** `CPERSONA_AGENT_ID`: who is asking when a call does not say, default `default` */
  readonly agentId: string;
  /** `CPERSONA_PROJECT_ID`: default project of writes and reads, `auto` by the repository; null when unset */
  readonly projectId: string | null;
  /** `CPERSONA_TOOLS`: `all` (default), or `core`, the nine tools of everyday use */
  readonly tools: "core" | "all";
  /** `CPERSONA_ACL_FILE`: who may read and write whose rows; null lets every caller do everything */
  readonly aclFile: string | null;
  /** `CPERSONA_LOG_LEVEL`: `error`, `warn` (default), `info`, `debug` */
  readonly logLevel: LogLevel;
  /** what was wrong with the environment, a line each */
  readonly warnings: readonly string[];
}

/** A variable that another setting names, such as the `${TOKEN}` of an access list. */
export function environmentVariable(name: string): string | undefined {
  return process.env[name];
}

/**
 * Reads the settings. Throws `invalid_setting` for an unknown embedding mode or one without what it needs, and
 * for an agent or project name over 256 characters.
 */
export function readConfig(environment: Environment = process.env): Config {
  const read = new SettingReader(environment);
  const recall = readRecall(read);
  const places = { dataFolder: dataFolder(), packageFolder: packageRoot() };
  const embedding = readEmbedding(read, places);
  const config: Config = {
    database: {
      path: read.path("CPERSONA_DB_PATH") ?? join(dataFolder(), "memory.db"),
      driver: read.choice("CPERSONA_SQLITE_DRIVER", ["auto", "better-sqlite3", "node:sqlite"], "auto"),
      synchronous:
        read.choice("CPERSONA_SYNCHRONOUS", ["normal", "full"], "normal") === "full" ? "FULL" : "NORMAL",
      busyTimeoutMs: read.integer("CPERSONA_BUSY_TIMEOUT_MS", { fallback: 30_000, min: 0, max: 600_000 }),
    },
    native: {
      mode: read.choice("CPERSONA_NATIVE", ["auto", "off", "required"], "auto"),
      simd: read.choice("CPERSONA_SIMD", ["auto", "avx512", "avx2", "neon", "scalar"], "auto"),
    },
    embedding,
    remote: readRemote(read, embedding),
    recall,
    http: readHttp(read),
    ambient: readAmbient(read, recall.confidence.enabled),
    calibration: readCalibration(read),
    limits: {
      contentChars: read.integer("CPERSONA_MAX_CONTENT_LENGTH", { fallback: 16_000, min: 1 }),
      profileChars: read.integer("CPERSONA_MAX_PROFILE_LENGTH", { fallback: 2000, min: 1 }),
      metadataChars: read.integer("CPERSONA_MAX_METADATA_LENGTH", { fallback: 8000, min: 2 }),
      futureSkewMs: read.integer("CPERSONA_FUTURE_TIMESTAMP_SKEW_SECONDS", { fallback: 300, min: 0 }) * 1000,
      futureMode: read.choice("CPERSONA_FUTURE_TIMESTAMP_MODE", ["warn", "reject", "off"], "warn"),
    },
    maintenance: readMaintenance(read),
    response: {
      previewChars: read.integer("CPERSONA_RECALL_PREVIEW_CHARS", { fallback: 500, min: 0 }),
      excerptChars: read.integer("CPERSONA_RECALL_EXCERPT_CHARS", { fallback: 800, min: 0 }),
      budgetChars: read.integer("CPERSONA_RESPONSE_BUDGET_CHARS", { fallback: 60_000, min: 4000 }),
    },
    context: { mode: read.choice("CPERSONA_EXTERNAL_CONTEXT_MODE", ["warn", "reject", "off"], "warn") },
    agentId: shortName(read, "CPERSONA_AGENT_ID") ?? "default",
    projectId: projectSetting(read, environment),
    tools: read.choice("CPERSONA_TOOLS", ["all", "core"], "all"),
    aclFile: read.path("CPERSONA_ACL_FILE") ?? null,
    logLevel: read.choice("CPERSONA_LOG_LEVEL", ["error", "warn", "info", "debug"], "warn"),
    warnings: read.warnings,
  };
  return Object.freeze(config);
}

function readCalibration(read: SettingReader): CalibrationConfig {
  const named = read.choice("CPERSONA_RECALL_PRECISION", ["strict", "balanced", "lenient"], "balanced");
  const percentile = read.number("CPERSONA_CALIBRATE_PERCENTILE", { fallback: 0.95, min: 1e-9, max: 100 });
  return {
    automatic: read.boolean("CPERSONA_CALIBRATE_ON_MODEL_CHANGE", true),
    atEveryStart: read.boolean("CPERSONA_AUTO_CALIBRATE", false),
    sampleSize: read.integer("CPERSONA_CALIBRATE_SAMPLE_SIZE", { fallback: 200, min: 1, max: 5000 }),
    zFactor: read.number("CPERSONA_CALIBRATE_Z_FACTOR", { fallback: 1, min: -10, max: 10 }),
    percentile: percentile > 1 ? percentile / 100 : percentile,
    beta: read.number("CPERSONA_FUSED_GATE_BETA", { fallback: PRECISION_BETAS[named], min: 1e-6 }),
  };
}

/** The settings of `model` commands alone: they must work where the rest is not right yet. */
export function readModelSettings(environment: Environment = process.env): ModelSettings {
  return readModels(new SettingReader(environment), dataFolder());
}

/** The user's data directory of the platform. */
function dataFolder(): string {
  return envPaths("cpersona-native", { suffix: "" }).data;
}
