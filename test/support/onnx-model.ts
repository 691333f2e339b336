// A tiny model folder: an ONNX graph that looks words up in a table, written byte by byte as protobuf, and a
// tokenizer of whole words. The vector of a text is the mean of the vectors of its tokens.

import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ROOT } from "./root.js";

/** `npm test` installs the runtime; a single test run by hand goes without. */
export const hasOnnxRuntime = isInstalled("onnxruntime-node");

function isInstalled(name: string): boolean {
  try {
    createRequire(join(ROOT, "package.json")).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Token id -> vector. Padding and unknown point somewhere, so that counting them in is noticed. */
const WORDS: Readonly<Record<string, readonly number[]>> = {
  "[PAD]": [9, 9, 9],
  "[UNK]": [-7, 0, 7],
  "[CLS]": [0, 0, 3],
  "[SEP]": [0, 0, 0],
  red: [6, 0, 0],
  blue: [0, 6, 0],
  ask: [3, 3, 0],
  ":": [0, 0, 0],
};

export interface TinyModel {
  /** an output of one vector a text, beside the one of tokens; it counts padding in */
  readonly isPooled?: boolean;
  readonly inputs?: readonly string[];
  readonly type?: "int64" | "int32";
}

const FLOAT = 1;
const ELEMENT_TYPES = { int32: 6, int64: 7 };
const DIMENSION = 3;

/** The bytes of `model.onnx`: opset 13, input `[batch, seq]`, output `last_hidden_state`. */
export function tinyModel({ isPooled = false, inputs, type = "int64" }: TinyModel = {}): Buffer {
  const names = inputs ?? ["input_ids", "attention_mask", "token_type_ids"];
  const table = Object.values(WORDS);
  const initializer = Buffer.concat([
    ...[table.length, DIMENSION].map((size) => number(1, size)),
    number(2, FLOAT),
    text(8, "table"),
    bytes(9, Buffer.from(Float32Array.from(table.flat()).buffer)),
  ]);
  const nodes = [node("Gather", ["table", "input_ids"], "last_hidden_state", [])];
  const outputs = [value("last_hidden_state", FLOAT, ["batch", "seq", DIMENSION])];
  if (isPooled) {
    const axes = Buffer.concat([text(1, "axes"), number(8, 1), number(20, 7)]);
    const drop = Buffer.concat([text(1, "keepdims"), number(3, 0), number(20, 2)]);
    nodes.push(node("ReduceMean", ["last_hidden_state"], "sentence_embedding", [axes, drop]));
    outputs.push(value("sentence_embedding", FLOAT, ["batch", DIMENSION]));
  }
  const graph = Buffer.concat([
    ...nodes.map((made) => bytes(1, made)),
    text(2, "tiny"),
    bytes(5, initializer),
    ...names.map((name) => bytes(11, value(name, ELEMENT_TYPES[type], ["batch", "seq"]))),
    ...outputs.map((made) => bytes(12, made)),
  ]);
  return Buffer.concat([number(1, 8), bytes(7, graph), bytes(8, number(2, 13))]);
}

function node(op: string, inputs: string[], output: string, attributes: Buffer[]): Buffer {
  return Buffer.concat([
    ...inputs.map((input) => text(1, input)),
    text(2, output),
    text(4, op),
    ...attributes.map((attribute) => bytes(5, attribute)),
  ]);
}

function value(name: string, elementType: number, shape: (string | number)[]): Buffer {
  const dims = shape.map((size) => bytes(1, typeof size === "number" ? number(1, size) : text(2, size)));
  const tensor = Buffer.concat([number(1, elementType), bytes(2, Buffer.concat(dims))]);
  return Buffer.concat([text(1, name), bytes(2, bytes(1, tensor))]);
}

function number(field: number, content: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(content)]);
}

function bytes(field: number, content: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
}

function text(field: number, content: string): Buffer {
  return bytes(field, Buffer.from(content));
}

function varint(content: number): Buffer {
  const out: number[] = [];
  let rest = content;
  for (; rest > 127; rest >>>= 7) out.push((rest & 127) | 128);
  return Buffer.from([...out, rest]);
}

/** What `tokenizer.json` says: `[CLS] words [SEP]`, lower case. */
export function tinyTokenizer(): object {
  const special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];
  return {
    version: "1.0",
    added_tokens: special.map((content, id) => ({ id, content, special: true, normalized: false })),
    normalizer: { type: "BertNormalizer", lowercase: true, clean_text: true, strip_accents: null },
    pre_tokenizer: { type: "BertPreTokenizer" },
    decoder: null,
    post_processor: {
      type: "TemplateProcessing",
      single: [
        { SpecialToken: { id: "[CLS]", type_id: 0 } },
        { Sequence: { id: "A", type_id: 0 } },
        { SpecialToken: { id: "[SEP]", type_id: 0 } },
      ],
      pair: [],
      special_tokens: {
        "[CLS]": { id: "[CLS]", ids: [2], tokens: ["[CLS]"] },
        "[SEP]": { id: "[SEP]", ids: [3], tokens: ["[SEP]"] },
      },
    },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(Object.keys(WORDS).map((word, id) => [word, id])),
    },
  };
}

export const TINY_CONFIG = {
  id: "tiny/words",
  dims: DIMENSION,
  max_tokens: 8,
  pooling: "mean",
  query_prefix: "ask: ",
  passage_prefix: "",
};

/** Writes a model folder; `files` replace or add some, null leaves one out. */
export function writeTinyModel(
  folder: string,
  files: Readonly<Record<string, object | string | null>> = {},
): string {
  const all = {
    "config.json": TINY_CONFIG,
    "tokenizer.json": tinyTokenizer(),
    "model.onnx": tinyModel(),
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    if (content === null) continue;
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    const isReady = typeof content === "string" || Buffer.isBuffer(content);
    writeFileSync(path, isReady ? content : JSON.stringify(content));
  }
  return folder;
}
