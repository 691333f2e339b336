// The only reader of the environment: variables -> one frozen, typed Config. A bad value warns and falls
// back to the default; only a value that nothing can replace stops the start.

import { join } from "node:path";
import envPaths from "env-paths";
import { type AmbientConfig, readAmbient } from "./ambient-settings.js";
import { invalidArgument, MemoryError } from "./errors.js";
import { type HttpConfig, readHttp } from "./http-settings.js";
import type { LogLevel } from "./log.js";
import { type MaintenanceConfig, readMaintenance } from "./maintenance-settings.js";
import { packageRoot } from "./package-root.js";
import { projectOfFolder, workingFolder } from "./project-folder.js";
import { type Environment, SettingReader } from "./setting-reader.js";

/** Weight of keeping unrelated rows out, by the name of the precision. */
export const PRECISION_BETAS = { strict: 2, balanced: 1, lenient: 0.5 } as const;

export type RecallMode = "rrf" | "rsf" | "cascade";
export type EmbeddingMode = "static" | "http" | "none";

export interface DatabaseConfig {
  /** `CPERSONA_DB_PATH`; default `memory.db` in the user's data directory of the platform */
  readonly path: string;
  /** `CPERSONA_SQLITE_DRIVER`: `auto` (default), `better-sqlite3`, `node:sqlite` */
  readonly driver: "auto" | "better-sqlite3" | "node:sqlite";
  /** `CPERSONA_SYNCHRONOUS`: `NORMAL` (default) survives a killed process, `FULL` a power cut too */
  readonly synchronous: "NORMAL" | "FULL";
  /** `CPERSONA_BUSY_TIMEOUT_MS`: how long a write waits for another process, default 5000 */
  readonly busyTimeoutMs: number;
}

export interface NativeConfig {
  /** `CPERSONA_NATIVE`: `auto` (default), `off` (TypeScript only), `required` (stop without the addon) */
  readonly mode: "auto" | "off" | "required";
  /** `CPERSONA_SIMD`: `auto` (default), `avx512`, `avx2`, `neon`, `scalar` */
  readonly simd: "auto" | "avx512" | "avx2" | "neon" | "scalar";
}

export interface EmbeddingConfig {
  /** `CPERSONA_EMBEDDING_MODE`, alias `EMBEDDING_MODE`: `static` (default, inside the package), `http`, `none` */
  readonly mode: EmbeddingMode;
  /** `CPERSONA_EMBEDDING_URL`, alias `EMBEDDING_HTTP_URL`: the `/embed` endpoint of mode `http` */
  readonly url: string;
  /** `CPERSONA_EMBEDDING_MODEL`, alias `EMBEDDING_MODEL`: label of the model where the server names none */
  readonly model: string;
  /** `CPERSONA_EMBEDDING_QUERY_TIMEOUT_MS`: longest wait on the recall path, default 2000 */
  readonly queryTimeoutMs: number;
  /** `CPERSONA_EMBEDDING_TIMEOUT_SECS`: longest wait when storing, default 30 s */
  readonly documentTimeoutMs: number;
  /** `CPERSONA_EMBEDDING_CACHE_SIZE`: query vectors kept, default 256, 0 keeps none */
  readonly cacheSize: number;
  /** `CPERSONA_EMBEDDING_CACHE_TTL`: how long a query vector is kept, default 300 s */
  readonly cacheTtlMs: number;
  /** the token table of the embedded default */
  readonly staticTablePath: string;
  /** `CPERSONA_EMBEDDING_WEIGHT`: share of the vector lists in the fusion; null takes the embedder's own */
  readonly fusionWeight: number | null;
}

export interface EpisodePenaltyConfig {
  /** `CPERSONA_EPISODE_PENALTY_ENABLED`, default true */
  readonly enabled: boolean;
  /** `CPERSONA_EPISODE_DECAY_RATE`: per hour before the boundary, default 0.01 */
  readonly rate: number;
  /** `CPERSONA_EPISODE_DECAY_FLOOR`: lowest factor, default 0.5 */
  readonly floor: number;
}

/** Constants of the confidence formula, see recall/confidence.ts. */
export interface ConfidenceConfig {
  /** `CPERSONA_CONFIDENCE_ENABLED`: confidence orders and gates, default false */
  readonly enabled: boolean;
  /** `CPERSONA_COSINE_FLOOR`, `CPERSONA_COSINE_CEIL`: calibrated cosines taken to 0 and 1, default 0.2 and 0.75 */
  readonly cosineFloor: number;
  readonly cosineCeil: number;
  /** `CPERSONA_DECAY_RATE`: per hour, default 0.005 */
  readonly decayRate: number;
  /** `CPERSONA_DECAY_FLOOR`, `CPERSONA_DECAY_CEIL`: lowest decay, and the highest floor that use lifts it to, default 0.3 and 0.5 */
  readonly decayFloor: number;
  readonly decayCeil: number;
  /** `CPERSONA_RECALL_BOOST`: times ln(1 + uses), default 0.02 */
  readonly boost: number;
  /** `CPERSONA_BOOST_DECAY_RATE`: per hour since the last use, default 0.002 */
  readonly boostDecayRate: number;
  /** `CPERSONA_MIN_TIME_RANGE_HOURS`: least span of a store, default 24 */
  readonly minRangeHours: number;
  /** `CPERSONA_REFERENCE_HOURS`: span up to which the rate is not slowed, default 168 */
  readonly referenceHours: number;
  /** `CPERSONA_RESOLVED_DECAY_FACTOR`: for resolved episodes, default 0.3 */
  readonly resolvedFactor: number;
  /** `CPERSONA_RECENT_RECALL_PENALTY`, `CPERSONA_RECENT_RECALL_WINDOW_MIN`: for rows recalled just now, default 0.7 and 5 minutes */
  readonly recentFactor: number;
  readonly recentWindowMinutes: number;
}

export interface AutocutConfig {
  /** `CPERSONA_AUTOCUT_ENABLED`, default true */
  readonly enabled: boolean;
  /** `CPERSONA_AUTOCUT_MIN_GAP_RATIO`: smallest gap that cuts, as a share of the top score, default 0.15 */
  readonly minGapRatio: number;
  /** `CPERSONA_AUTOCUT_MIN_RESULTS`: fewer rows are never cut, default 3, at least 2 */
  readonly minResults: number;
}

export interface RecallConfig {
  /** `CPERSONA_RECALL_MODE`: `rrf` (default), `rsf`, `cascade` */
  readonly mode: RecallMode;
  /** `CPERSONA_MAX_MEMORIES`: vector scan window, newest rows, memories and episodes each, default 10000 */
  readonly window: number;
  /** `CPERSONA_VECTOR_REACH`: rows behind the window that form the far list, default 0 */
  readonly reach: number;
  /** `CPERSONA_VECTOR_FAR_LIMIT`: most rows of the far list, default 0 = the response's limit */
  readonly farLimit: number;
  /** `CPERSONA_RECALL_DEPTH_FLOOR`: least rows the vector lists hand to the fusion, default 0 = the response's limit */
  readonly depthFloor: number;
  /** `CPERSONA_LEXICAL_DEPTH`: least rows the lists by words hand to the fusion, default 100 (measured: +1.7 recall@10) */
  readonly lexicalDepth: number;
  /** `CPERSONA_RRF_K`: constant of reciprocal rank fusion, default 10 (measured: 60 loses 0.5 NDCG@10) */
  readonly rrfK: number;
  /** `CPERSONA_NEIGHBOUR_SHARE`: share of a row's score that the rows said next to it get, default 0.3, 0 = off */
  readonly neighbourShare: number;
  /** `CPERSONA_NEIGHBOUR_MINUTES`: rows further apart are no neighbours, default 5 */
  readonly neighbourMinutes: number;
  /** `CPERSONA_VECTOR_MIN_SIMILARITY`: calibrated cosine of a hit by meaning before calibration, default 0.3 */
  readonly minSimilarity: number;
  /** `CPERSONA_GATE_EVIDENCE`: evidence that opens an answer in a large store (coverage + 0.8 × level), default 0.62 */
  readonly gateEvidence: number;
  readonly episodePenalty: EpisodePenaltyConfig;
  readonly confidence: ConfidenceConfig;
  readonly autocut: AutocutConfig;
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
}

export interface Config {
  readonly database: DatabaseConfig;
  readonly native: NativeConfig;
  readonly embedding: EmbeddingConfig;
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

/**
 * Reads the settings. Throws `invalid_setting` for an unknown embedding mode, for mode `http` without a
 * URL, and for an agent or project name over 256 characters.
 */
export function readConfig(environment: Environment = process.env): Config {
  const read = new SettingReader(environment);
  const recall = readRecall(read);
  const config: Config = {
    database: {
      path: read.text("CPERSONA_DB_PATH") ?? defaultDatabasePath(),
      driver: read.choice("CPERSONA_SQLITE_DRIVER", ["auto", "better-sqlite3", "node:sqlite"], "auto"),
      synchronous:
        read.choice("CPERSONA_SYNCHRONOUS", ["normal", "full"], "normal") === "full" ? "FULL" : "NORMAL",
      busyTimeoutMs: read.integer("CPERSONA_BUSY_TIMEOUT_MS", { fallback: 5000, min: 0, max: 600_000 }),
    },
    native: {
      mode: read.choice("CPERSONA_NATIVE", ["auto", "off", "required"], "auto"),
      simd: read.choice("CPERSONA_SIMD", ["auto", "avx512", "avx2", "neon", "scalar"], "auto"),
    },
    embedding: readEmbedding(read),
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
    response: { previewChars: read.integer("CPERSONA_RECALL_PREVIEW_CHARS", { fallback: 500, min: 0 }) },
    context: { mode: read.choice("CPERSONA_EXTERNAL_CONTEXT_MODE", ["warn", "reject", "off"], "warn") },
    agentId: shortName(read, "CPERSONA_AGENT_ID") ?? "default",
    projectId: projectSetting(read, environment),
    tools: read.choice("CPERSONA_TOOLS", ["all", "core"], "all"),
    aclFile: read.text("CPERSONA_ACL_FILE") ?? null,
    logLevel: read.choice("CPERSONA_LOG_LEVEL", ["error", "warn", "info", "debug"], "warn"),
    warnings: read.warnings,
  };
  return Object.freeze(config);
}

function readRecall(read: SettingReader): RecallConfig {
  return {
    mode: read.choice("CPERSONA_RECALL_MODE", ["rrf", "rsf", "cascade"], "rrf"),
    window: read.integer("CPERSONA_MAX_MEMORIES", { fallback: 10_000, min: 1 }),
    reach: read.integer("CPERSONA_VECTOR_REACH", { fallback: 0, min: 0 }),
    farLimit: read.integer("CPERSONA_VECTOR_FAR_LIMIT", { fallback: 0, min: 0 }),
    depthFloor: read.integer("CPERSONA_RECALL_DEPTH_FLOOR", { fallback: 0, min: 0, max: 10_000 }),
    lexicalDepth: read.integer("CPERSONA_LEXICAL_DEPTH", { fallback: 100, min: 0, max: 10_000 }),
    rrfK: read.integer("CPERSONA_RRF_K", { fallback: 10, min: 1 }),
    neighbourShare: read.number("CPERSONA_NEIGHBOUR_SHARE", { fallback: 0.3, min: 0, max: 1 }),
    neighbourMinutes: read.number("CPERSONA_NEIGHBOUR_MINUTES", { fallback: 5, min: 0 }),
    minSimilarity: read.number("CPERSONA_VECTOR_MIN_SIMILARITY", { fallback: 0.3, min: -1, max: 1 }),
    gateEvidence: read.number("CPERSONA_GATE_EVIDENCE", { fallback: 0.62, min: 0, max: 2 }),
    episodePenalty: {
      enabled: read.boolean("CPERSONA_EPISODE_PENALTY_ENABLED", true),
      rate: read.number("CPERSONA_EPISODE_DECAY_RATE", { fallback: 0.01, min: 0 }),
      floor: read.number("CPERSONA_EPISODE_DECAY_FLOOR", { fallback: 0.5, min: 0, max: 1 }),
    },
    confidence: {
      enabled: read.boolean("CPERSONA_CONFIDENCE_ENABLED", false),
      cosineFloor: read.number("CPERSONA_COSINE_FLOOR", { fallback: 0.2, min: -1, max: 1 }),
      cosineCeil: read.number("CPERSONA_COSINE_CEIL", { fallback: 0.75, min: -1, max: 1 }),
      decayRate: read.number("CPERSONA_DECAY_RATE", { fallback: 0.005, min: 0 }),
      decayFloor: read.number("CPERSONA_DECAY_FLOOR", { fallback: 0.3, min: 0, max: 1 }),
      decayCeil: read.number("CPERSONA_DECAY_CEIL", { fallback: 0.5, min: 0, max: 1 }),
      boost: read.number("CPERSONA_RECALL_BOOST", { fallback: 0.02, min: 0 }),
      boostDecayRate: read.number("CPERSONA_BOOST_DECAY_RATE", { fallback: 0.002, min: 0 }),
      minRangeHours: read.number("CPERSONA_MIN_TIME_RANGE_HOURS", { fallback: 24, min: 0 }),
      referenceHours: read.number("CPERSONA_REFERENCE_HOURS", { fallback: 168, min: 1e-6 }),
      resolvedFactor: read.number("CPERSONA_RESOLVED_DECAY_FACTOR", { fallback: 0.3, min: 0, max: 1 }),
      recentFactor: read.number("CPERSONA_RECENT_RECALL_PENALTY", { fallback: 0.7, min: 0, max: 1 }),
      recentWindowMinutes: read.number("CPERSONA_RECENT_RECALL_WINDOW_MIN", { fallback: 5, min: 0 }),
    },
    autocut: {
      enabled: read.boolean("CPERSONA_AUTOCUT_ENABLED", true),
      minGapRatio: read.number("CPERSONA_AUTOCUT_MIN_GAP_RATIO", { fallback: 0.15, min: 0, max: 1 }),
      minResults: read.integer("CPERSONA_AUTOCUT_MIN_RESULTS", { fallback: 3, min: 2 }),
    },
  };
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

function readEmbedding(read: SettingReader): EmbeddingConfig {
  const mode = (read.text("CPERSONA_EMBEDDING_MODE", "EMBEDDING_MODE") ?? "static").trim().toLowerCase();
  if (mode !== "static" && mode !== "http" && mode !== "none") {
    throw new MemoryError("invalid_setting", "CPERSONA_EMBEDDING_MODE must be static, http or none", {
      field: "CPERSONA_EMBEDDING_MODE",
    });
  }
  const url = read.text("CPERSONA_EMBEDDING_URL", "EMBEDDING_HTTP_URL") ?? "";
  if (mode === "http" && !(/^https?:/.test(url) && URL.canParse(url))) {
    throw new MemoryError(
      "invalid_setting",
      "CPERSONA_EMBEDDING_URL must be an http or https URL in mode http",
      {
        field: "CPERSONA_EMBEDDING_URL",
      },
    );
  }
  const weight = read.text("CPERSONA_EMBEDDING_WEIGHT");
  return {
    mode,
    url,
    model: read.text("CPERSONA_EMBEDDING_MODEL", "EMBEDDING_MODEL") ?? "",
    queryTimeoutMs: read.integer("CPERSONA_EMBEDDING_QUERY_TIMEOUT_MS", { fallback: 2000, min: 1 }),
    documentTimeoutMs: read.integer("CPERSONA_EMBEDDING_TIMEOUT_SECS", { fallback: 30, min: 1 }) * 1000,
    cacheSize: read.integer("CPERSONA_EMBEDDING_CACHE_SIZE", { fallback: 256, min: 0 }),
    cacheTtlMs: read.integer("CPERSONA_EMBEDDING_CACHE_TTL", { fallback: 300, min: 0 }) * 1000,
    staticTablePath: join(packageRoot(), "assets", "static-multilingual", "static.ste"),
    fusionWeight:
      weight === undefined
        ? null
        : read.number("CPERSONA_EMBEDDING_WEIGHT", { fallback: 1, min: 0, max: 10 }),
  };
}

function defaultDatabasePath(): string {
  return join(envPaths("cpersona-native", { suffix: "" }).data, "memory.db");
}

/** `auto` names the project after the repository that the agent works in. */
function projectSetting(read: SettingReader, environment: Environment): string | null {
  const name = shortName(read, "CPERSONA_PROJECT_ID");
  if (name !== "auto") return name;
  return projectOfFolder(environment["CLAUDE_PROJECT_DIR"] || workingFolder());
}

const MAX_NAME_CHARS = 256;

function shortName(read: SettingReader, name: string): string | null {
  const value = read.text(name);
  if (value === undefined) return null;
  if (value.length > MAX_NAME_CHARS)
    throw invalidArgument(name, `must have at most ${MAX_NAME_CHARS} characters`);
  return value;
}
