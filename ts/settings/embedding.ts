// Settings of embedders: which one, where it is, how long to wait for it.

import { join } from "node:path";
import { MemoryError } from "../errors.js";
import { isModelName, readChosenModel } from "./chosen-model.js";
import { modelFolder } from "./models.js";
import type { SettingReader } from "./reader.js";

const MODES = ["static", "onnx", "http", "api", "none"] as const;
export type EmbeddingMode = (typeof MODES)[number];

const OPENAI_URL = "https://api.openai.com/v1/embeddings";
const OPENAI_MODEL = "text-embedding-3-small";

export interface EmbeddingConfig {
  /**
   * `CPERSONA_EMBEDDING_MODE`, alias `EMBEDDING_MODE`: `static` (inside the package), `onnx` (a model on this
   * machine), `http` (a `/embed` server), `api` (OpenAI's contract), `none`. Default `onnx` once a model was
   * chosen with `model use`, else `static`
   */
  readonly mode: EmbeddingMode;
  /** the address of mode `http` (`CPERSONA_EMBEDDING_URL`, alias `EMBEDDING_HTTP_URL`) or `api` (`CPERSONA_EMBEDDING_API_URL`, alias `EMBEDDING_API_URL`, default OpenAI's) */
  readonly url: string;
  /** `CPERSONA_EMBEDDING_API_KEY`, alias `EMBEDDING_API_KEY`: bearer token of mode `api`; empty sends none */
  readonly apiKey: string;
  /**
   * `CPERSONA_EMBEDDING_MODEL`, alias `EMBEDDING_MODEL`. In mode `api` the model asked for, default
   * `text-embedding-3-small`; in `onnx` a pulled model; in `http` its label where the server names none
   */
  readonly model: string;
  /** the model's folder in mode `onnx`: `CPERSONA_EMBEDDING_MODEL_PATH`, else `model` in the folder of models; empty in other modes */
  readonly modelPath: string;
  /** `CPERSONA_EMBEDDING_THREADS`: threads of mode `onnx`, 1 to 64, default 2 */
  readonly threads: number;
  /** `CPERSONA_EMBEDDING_IDLE_SECS`: the model process of mode `onnx` ends when unused for so long, default 300 s, 0 keeps it */
  readonly idleMs: number;
  /** `CPERSONA_EMBEDDING_QUERY_TIMEOUT_MS`: longest wait on the recall path, default 2000 */
  readonly queryTimeoutMs: number;
  /** `CPERSONA_EMBEDDING_TIMEOUT_SECS`: longest wait when storing, default 30 s */
  readonly documentTimeoutMs: number;
  /**
   * `CPERSONA_EMBEDDING_WRITE_BUDGET_MS`: how long the blocks of a long record may keep a write waiting, default
   * 250; one request is always made, what is left is embedded behind the write
   */
  readonly writeBudgetMs: number;
  /** `CPERSONA_EMBEDDING_CACHE_SIZE`: query vectors kept, default 256, 0 keeps none */
  readonly cacheSize: number;
  /** `CPERSONA_EMBEDDING_CACHE_TTL`: how long a query vector is kept, default 300 s */
  readonly cacheTtlMs: number;
  /** the token table of the embedded default */
  readonly staticTablePath: string;
  /** `CPERSONA_EMBEDDING_WEIGHT`: share of the vector lists in the fusion; null takes the embedder's own */
  readonly fusionWeight: number | null;
}

/** Folders that the settings start from. */
export interface EmbeddingPlaces {
  readonly dataFolder: string;
  readonly packageFolder: string;
}

/** Throws `invalid_setting` for an unknown mode, and for a mode without what it needs. */
export function readEmbedding(read: SettingReader, places: EmbeddingPlaces): EmbeddingConfig {
  const folder = modelFolder(read, places.dataFolder);
  const chosen = readChosenModel(folder);
  const mode = readMode(read, chosen);
  const weight = read.text("CPERSONA_EMBEDDING_WEIGHT");
  return {
    mode,
    ...READERS[mode](read, folder, chosen),
    threads: read.integer("CPERSONA_EMBEDDING_THREADS", { fallback: 2, min: 1, max: 64 }),
    idleMs: read.integer("CPERSONA_EMBEDDING_IDLE_SECS", { fallback: 300, min: 0, max: 86_400 }) * 1000,
    queryTimeoutMs: read.integer("CPERSONA_EMBEDDING_QUERY_TIMEOUT_MS", { fallback: 2000, min: 1 }),
    documentTimeoutMs: read.integer("CPERSONA_EMBEDDING_TIMEOUT_SECS", { fallback: 30, min: 1 }) * 1000,
    writeBudgetMs: read.integer("CPERSONA_EMBEDDING_WRITE_BUDGET_MS", { fallback: 250, min: 0 }),
    cacheSize: read.integer("CPERSONA_EMBEDDING_CACHE_SIZE", { fallback: 256, min: 0 }),
    cacheTtlMs: read.integer("CPERSONA_EMBEDDING_CACHE_TTL", { fallback: 300, min: 0 }) * 1000,
    staticTablePath: join(places.packageFolder, "assets", "static-multilingual", "static.ste"),
    fusionWeight:
      weight === undefined
        ? null
        : read.number("CPERSONA_EMBEDDING_WEIGHT", { fallback: 1, min: 0, max: 10 }),
  };
}

function readMode(read: SettingReader, chosen: string | null): EmbeddingMode {
  const text = read.text("CPERSONA_EMBEDDING_MODE", "EMBEDDING_MODE")?.trim().toLowerCase();
  if (text === undefined) return chosen === null ? "static" : "onnx";
  const mode = MODES.find((known) => known === text);
  if (mode === undefined) throw invalid("CPERSONA_EMBEDDING_MODE", `must be one of ${MODES.join(", ")}`);
  return mode;
}

type Target = Pick<EmbeddingConfig, "url" | "apiKey" | "model" | "modelPath">;
type ReadTarget = (read: SettingReader, folder: string, chosen: string | null) => Target;

const modelOf = (read: SettingReader): string | undefined =>
  read.text("CPERSONA_EMBEDDING_MODEL", "EMBEDDING_MODEL")?.trim();

const label: ReadTarget = (read) => ({ url: "", apiKey: "", model: modelOf(read) ?? "", modelPath: "" });

const READERS: Record<EmbeddingMode, ReadTarget> = {
  static: label,
  none: label,
  http: (read, ...rest) => {
    const url = read.text("CPERSONA_EMBEDDING_URL", "EMBEDDING_HTTP_URL")?.trim() ?? "";
    if (!isWebAddress(url))
      throw invalid("CPERSONA_EMBEDDING_URL", "must be an http or https URL in mode http");
    return { ...label(read, ...rest), url };
  },
  api: (read) => {
    const url = read.text("CPERSONA_EMBEDDING_API_URL", "EMBEDDING_API_URL")?.trim() ?? OPENAI_URL;
    if (!isWebAddress(url)) throw invalid("CPERSONA_EMBEDDING_API_URL", "must be an http or https URL");
    const apiKey = read.text("CPERSONA_EMBEDDING_API_KEY", "EMBEDDING_API_KEY")?.trim() ?? "";
    if (!/^[\x21-\x7e]*$/.test(apiKey))
      throw invalid("CPERSONA_EMBEDDING_API_KEY", "must be printable ASCII without blanks");
    if (apiKey === "" && url === OPENAI_URL)
      throw invalid("CPERSONA_EMBEDDING_API_KEY", "must be set in mode api");
    return { url, apiKey, model: modelOf(read) ?? OPENAI_MODEL, modelPath: "" };
  },
  onnx: (read, folder, chosen) => {
    const path = read.path("CPERSONA_EMBEDDING_MODEL_PATH");
    const model = modelOf(read) ?? chosen ?? "";
    if (path !== undefined) return { url: "", apiKey: "", model, modelPath: path };
    if (!isModelName(model))
      throw invalid("CPERSONA_EMBEDDING_MODEL", "must name a pulled model in mode onnx, see `model list`");
    return { url: "", apiKey: "", model, modelPath: join(folder, model) };
  },
};

function isWebAddress(url: string): boolean {
  return /^https?:/.test(url) && URL.canParse(url);
}

function invalid(field: string, rule: string): MemoryError {
  return new MemoryError("invalid_setting", `${field} ${rule}`, { field });
}
