// Models that are known by name: where their files are on the public hub, and what the hub does not say about
// them. Sizes are rounded; what a file must be is taken from the hub's own headers.

export interface CatalogueModel {
  readonly name: string;
  readonly repository: string;
  /** rounded bytes of all files */
  readonly bytes: number;
  readonly languages: string;
  readonly licence: string;
  /** becomes the folder's `config.json` */
  readonly config: Readonly<Record<string, unknown>>;
}

/** File on the hub -> file in the model's folder. */
export const HUB_FILES: Readonly<Record<string, string>> = {
  "onnx/model_quantized.onnx": "model.onnx",
  "tokenizer.json": "tokenizer.json",
  "tokenizer_config.json": "tokenizer_config.json",
};

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
      pad_id: 1,
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
      pad_id: 3,
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
      pad_id: 1,
    },
  },
];
