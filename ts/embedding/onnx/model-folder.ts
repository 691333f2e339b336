// What a model folder says about its model. Two kinds are read: ours, whose `config.json` says everything
// (`docs/models.md`), and a plain sentence-transformers folder with an ONNX export. Foreign input, checked.

import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { JsonError, parseJson } from "../../domain/json.js";
import { readRegularFile } from "../../files.js";
import { LIMITS } from "../../native/limits.js";
import { EmbeddingError } from "../failure.js";

const POOLINGS = ["mean", "cls"] as const;
export type Pooling = (typeof POOLINGS)[number];

export interface OnnxModel {
  readonly modelFile: string;
  readonly tokenizerFile: string;
  /** null when the folder has none */
  readonly tokenizerConfigFile: string | null;
  /** name of the model, for the identity */
  readonly id: string;
  readonly dimension: number;
  /** longest input, special tokens included */
  readonly maxTokens: number;
  /** how token vectors become one, where the output is not pooled already */
  readonly pooling: Pooling;
  /** the output to take; null takes `sentence_embedding` where there is one, else the first */
  readonly output: string | null;
  /** null: the tokenizer tells */
  readonly padId: number | null;
  readonly prefixes: { readonly query: string; readonly document: string };
  /** median cosine of unrelated texts; null when the folder does not say */
  readonly unrelatedCosine: number | null;
  /** ISO 639-1 codes; null when the folder does not say */
  readonly languages: readonly string[] | null;
}

const MODEL_FILES = ["model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx"];
const MAX_TOKENS = 32_768;
const MAX_INT = 2 ** 31 - 1;
const MAX_JSON_BYTES = 1_048_576;
/** Positions of these models start behind the padding id. */
const SHIFTED_POSITIONS = new Set(["roberta", "xlm-roberta", "camembert"]);

/** Reads `config.json` and what stands beside it. Throws `misconfigured` with the field and its rule. */
export function readModelFolder(folder: string): OnnxModel {
  if (!isFolder(folder)) {
    const name = basename(folder);
    throw wrong(
      `there is no folder of the model ${name}: run \`cpersona-native model pull ${name}\`, or look at CPERSONA_EMBEDDING_MODEL_PATH where that is set`,
    );
  }
  const config = readJson(folder, "config.json");
  if (config === null) throw wrong("the model's folder has no config.json");
  const isOurs = config["dims"] !== undefined || config["hidden_size"] === undefined;
  const read = new FieldReader("config.json", config);
  return { ...filesOf(folder), ...(isOurs ? readOurs(read, folder) : readPlain(read, folder)) };
}

type Description = Omit<OnnxModel, "modelFile" | "tokenizerFile" | "tokenizerConfigFile">;

function readOurs(read: FieldReader, folder: string): Description {
  return {
    id: read.text("id") ?? basename(folder),
    dimension: read.mustWhole("dims", 1, LIMITS.maxDimension),
    maxTokens: read.mustWhole("max_tokens", 4, MAX_TOKENS),
    pooling: read.choice("pooling", POOLINGS) ?? "mean",
    output: read.text("output") ?? null,
    padId: read.whole("pad_id", 0, MAX_INT) ?? null,
    prefixes: { query: read.text("query_prefix") ?? "", document: read.text("passage_prefix") ?? "" },
    unrelatedCosine: read.number("unrelated_cosine", -1, 0.999) ?? null,
    languages: read.texts("languages") ?? null,
  };
}

function readPlain(read: FieldReader, folder: string): Description {
  const stated = statedByFiles(folder);
  const longest = readerOf(folder, "sentence_bert_config.json").whole("max_seq_length", 4, MAX_INT) ?? 512;
  return {
    id: read.text("_name_or_path") || basename(folder),
    dimension: read.mustWhole("hidden_size", 1, LIMITS.maxDimension),
    maxTokens: Math.min(longest, stated.mostTokens),
    pooling: stated.pooling ?? "mean",
    output: null,
    padId: stated.pad_id ?? null,
    prefixes: { query: stated.query_prefix ?? "", document: stated.passage_prefix ?? "" },
    unrelatedCosine: null,
    languages: null,
  };
}

/** What the files of a sentence-transformers folder say, under the names of our `config.json`. */
interface Stated {
  readonly dims?: number;
  readonly pad_id?: number;
  readonly pooling?: Pooling;
  readonly query_prefix?: string;
  readonly passage_prefix?: string;
  /** what the model can take, and its authors let it take */
  readonly mostTokens: number;
}

/** Fields of which the files say nothing are absent. Throws `misconfigured`. */
export function statedByFiles(folder: string): Stated {
  const config = readerOf(folder, "config.json");
  const prompts = readerOf(folder, "config_sentence_transformers.json").object("prompts");
  const padId = config.whole("pad_token_id", 0, MAX_INT);
  const isShifted = SHIFTED_POSITIONS.has(config.text("model_type") ?? "");
  const positions = config.whole("max_position_embeddings", 4, MAX_INT) ?? MAX_TOKENS;
  const longest =
    readerOf(folder, "sentence_bert_config.json").whole("max_seq_length", 4, MAX_INT) ?? MAX_TOKENS;
  const stated = {
    dims: config.whole("hidden_size", 1, LIMITS.maxDimension),
    pad_id: padId,
    pooling: poolingOf(readerOf(folder, "1_Pooling/config.json")),
    // Tools write empty prompts where nobody said anything.
    query_prefix: prompts.text("query") || undefined,
    passage_prefix: prompts.text("document") || prompts.text("passage") || undefined,
  };
  const said = Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined));
  return {
    ...said,
    mostTokens: Math.min(longest, positions - (isShifted ? (padId ?? 0) + 1 : 0), MAX_TOKENS),
  };
}

function readerOf(folder: string, name: string): FieldReader {
  return new FieldReader(name, readJson(folder, name) ?? {});
}

/** Undefined where the file is missing or names none. */
function poolingOf(read: FieldReader): Pooling | undefined {
  const modes = read.names().filter((name) => name.startsWith("pooling_mode_") && read.flag(name));
  if (modes.length === 0) return undefined;
  if (modes.length === 1 && modes[0] === "pooling_mode_mean_tokens") return "mean";
  if (modes.length === 1 && modes[0] === "pooling_mode_cls_token") return "cls";
  throw wrong(`1_Pooling/config.json asks for ${modes.join(" and ")}; mean or cls alone is possible`);
}

function filesOf(folder: string): Pick<OnnxModel, "modelFile" | "tokenizerFile" | "tokenizerConfigFile"> {
  const model = MODEL_FILES.find((name) => existsSync(join(folder, name)));
  if (model === undefined) throw wrong("the model's folder has no model.onnx");
  const tokenizer = join(folder, "tokenizer.json");
  if (!existsSync(tokenizer)) throw wrong("the model's folder has no tokenizer.json");
  const more = join(folder, "tokenizer_config.json");
  return {
    modelFile: join(folder, model),
    tokenizerFile: tokenizer,
    tokenizerConfigFile: existsSync(more) ? more : null,
  };
}

/** Null when the file is not there. */
function readJson(folder: string, name: string): Record<string, unknown> | null {
  const path = join(folder, name);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return null;
  if (size > MAX_JSON_BYTES) throw wrong(`the model's ${name} is larger than 1 MiB`);
  let value: unknown;
  try {
    value = parseJson(readRegularFile(path, MAX_JSON_BYTES));
  } catch (error) {
    if (!(error instanceof JsonError)) throw wrong(`the model's ${name} cannot be read`);
    throw wrong(`the model's ${name} ${error.fault}`);
  }
  if (!isObject(value)) throw wrong(`the model's ${name} is not a JSON object`);
  return value;
}

/** Reads fields of one file; undefined where a field is missing or null. */
class FieldReader {
  readonly #file: string;
  readonly #fields: Record<string, unknown>;

  constructor(file: string, fields: Record<string, unknown>) {
    this.#file = file;
    this.#fields = fields;
  }

  names(): string[] {
    return Object.keys(this.#fields);
  }

  flag(name: string): boolean {
    return this.#fields[name] === true;
  }

  text(name: string): string | undefined {
    return this.#read(name, "a text of at most 512 characters", (value): value is string => {
      return typeof value === "string" && value.length <= 512 && !/\p{Cc}/u.test(value);
    });
  }

  texts(name: string): string[] | undefined {
    return this.#read(name, "a list of texts", (value): value is string[] => {
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    });
  }

  choice<const T extends string>(name: string, values: readonly T[]): T | undefined {
    return this.#read(name, `one of ${values.join(", ")}`, (value): value is T => {
      return values.some((known) => known === value);
    });
  }

  whole(name: string, min: number, max: number): number | undefined {
    return this.#read(name, `a whole number from ${min} to ${max}`, (value): value is number => {
      return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
    });
  }

  mustWhole(name: string, min: number, max: number): number {
    const value = this.whole(name, min, max);
    if (value === undefined) throw wrong(`${name} in the model's ${this.#file} is missing`);
    return value;
  }

  number(name: string, min: number, max: number): number | undefined {
    return this.#read(name, `a number from ${min} to ${max}`, (value): value is number => {
      return typeof value === "number" && value >= min && value <= max;
    });
  }

  object(name: string): FieldReader {
    const value = this.#read(name, "an object", isObject);
    return new FieldReader(`${this.#file} (${name})`, value ?? {});
  }

  #read<T>(name: string, rule: string, fits: (value: unknown) => value is T): T | undefined {
    const value = this.#fields[name];
    if (value === undefined || value === null) return undefined;
    if (!fits(value)) throw wrong(`${name} in the model's ${this.#file} must be ${rule}`);
    return value;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function wrong(message: string): EmbeddingError {
  return new EmbeddingError("misconfigured", message);
}
