// Models that are known by name: where their files are on the public hub, and what holds where those files are
// silent. Sizes are rounded; what a file must be is taken from the hub's own headers.

export interface CatalogueModel {
  readonly name: string;
  readonly repository: string;
  /** rounded bytes of all files */
  readonly bytes: number;
  readonly languages: string;
  readonly licence: string;
  /** becomes the folder's `config.json`, together with what the model's own files say, which wins */
  readonly config: Readonly<Record<string, unknown>> & { readonly dims: number; readonly max_tokens: number };
}

/** Folder, inside a model's, of the files that describe it on the hub. */
export const HUB_FOLDER = "hub";

/** File on the hub -> file in the model's folder, and whether a model may lack it. */
export const HUB_FILES: readonly {
  readonly from: string;
  readonly to: string;
  readonly isOptional: boolean;
}[] = [
  ...[
    "config.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
  ].map((name) => ({ from: name, to: `${HUB_FOLDER}/${name}`, isOptional: true })),
  { from: "tokenizer.json", to: "tokenizer.json", isOptional: false },
  { from: "tokenizer_config.json", to: "tokenizer_config.json", isOptional: true },
  { from: "onnx/model_quantized.onnx", to: "model.onnx", isOptional: false },
];

const MB = 1_000_000;

export const CATALOGUE: readonly CatalogueModel[] = [
  {
    name: "multilingual-e5-small",
    repository: "Xenova/multilingual-e5-small",
    bytes: 135 * MB,
    languages: "about 100",
    licence: "MIT",
    config: {
      id: "intfloat/multilingual-e5-small int8",
      dims: 384,
      max_tokens: 512,
      pooling: "mean",
      query_prefix: "query: ",
      passage_prefix: "passage: ",
    },
  },
  {
    name: "all-MiniLM-L6-v2",
    repository: "Xenova/all-MiniLM-L6-v2",
    bytes: 24 * MB,
    languages: "English",
    licence: "Apache-2.0",
    config: {
      id: "sentence-transformers/all-MiniLM-L6-v2 int8",
      dims: 384,
      max_tokens: 256,
      pooling: "mean",
      languages: ["en"],
    },
  },
  {
    name: "ruri-v3-30m",
    repository: "sirasagi62/ruri-v3-30m-ONNX",
    bytes: 41 * MB,
    languages: "Japanese",
    licence: "Apache-2.0",
    config: {
      id: "cl-nagoya/ruri-v3-30m int8",
      dims: 256,
      max_tokens: 1024,
      pooling: "mean",
      query_prefix: "検索クエリ: ",
      passage_prefix: "検索文書: ",
      languages: ["ja"],
    },
  },
  {
    name: "bge-m3",
    repository: "Xenova/bge-m3",
    bytes: 587 * MB,
    languages: "about 100",
    licence: "MIT",
    config: {
      id: "BAAI/bge-m3 int8",
      dims: 1024,
      max_tokens: 1024,
      pooling: "cls",
    },
  },
];
