import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readConfig } from "../../../ts/config.js";
import { BackendEmbedder } from "../../../ts/embedding/backend-embedder.js";
import { type Embedder, identityKey } from "../../../ts/embedding/embedder.js";
import { OnnxBackend } from "../../../ts/embedding/onnx/onnx-backend.js";
import { batchesOf } from "../../../ts/embedding/onnx/session.js";
import { openEmbedder } from "../../../ts/embedding/open-embedder.js";
import { twinCore } from "../../../ts/native/twin/core.js";
import {
  hasOnnxRuntime,
  TINY_CONFIG,
  tinyModel,
  tinyTokenizer,
  writeTinyModel,
} from "../../support/onnx-model.js";
import { ROOT } from "../../support/root.js";
import { tempFolder } from "../../support/temp.js";

const opened: Embedder[] = [];
afterEach(() => {
  for (const embedder of opened.splice(0)) embedder.close();
});

function open(folder: string, now: () => number = () => 0): Embedder {
  const { embedding } = readConfig({
    CPERSONA_EMBEDDING_MODE: "onnx",
    CPERSONA_EMBEDDING_MODEL_PATH: folder,
    CPERSONA_EMBEDDING_QUERY_TIMEOUT_MS: "20000",
    CPERSONA_EMBEDDING_THREADS: "1",
  });
  const embedder = openEmbedder(embedding, { core: twinCore, clock: { now } });
  opened.push(embedder);
  return embedder;
}

const tiny = (files: Parameters<typeof writeTinyModel>[1] = {}) => writeTinyModel(tempFolder(), files);

const MODEL_PROCESS = join(ROOT, "dist", "bin", "model-process.mjs");

function unit(...values: number[]): number[] {
  const norm = Math.hypot(...values);
  return values.map((value) => value / norm);
}

function expectNear(vector: Float32Array | null | undefined, expected: number[]): void {
  expect(vector).toHaveLength(expected.length);
  expected.forEach((value, i) => {
    expect(vector?.[i]).toBeCloseTo(value, 5);
  });
}

describe.skipIf(!hasOnnxRuntime)("the onnx embedder", () => {
  it("embeds with the prefix of the role, and knows its identity and card before", async () => {
    const embedder = open(
      tiny({ "config.json": { ...TINY_CONFIG, unrelated_cosine: 0.7, languages: ["en"] } }),
    );
    const identity = embedder.identity();
    expect(identity && identityKey(identity)).toBe('onnx:tiny/words:3:["ask: ",""]');
    expect(embedder.card).toMatchObject({ fusionWeight: 0.5, unrelatedCosine: 0.7, languages: ["en"] });
    expect(embedder.state()).toEqual({ status: "unknown" });
    const [document] = await embedder.embedDocuments(["Red"]);
    expectNear(document, unit(6, 0, 3));
    expect(embedder.state()).toEqual({ status: "ready" });
    // [CLS] ask : red [SEP]
    expectNear(await embedder.embedQuery("red"), unit(9, 3, 3));
  });

  it("knows nothing of a card that the folder does not write", () => {
    const { card } = open(tiny());
    expect(card).toMatchObject({ unrelatedCosine: null, languages: null, centre: null });
  });

  it("keeps the order of texts of any length, and leaves padding out", async () => {
    const embedder = open(tiny());
    const texts = Array.from({ length: 150 }, (_, i) => `${"red ".repeat(1 + ((i * 7) % 4))}blue`);
    const vectors = await embedder.embedDocuments(texts);
    for (const [i, vector] of vectors.entries()) expectNear(vector, unit(6 * (1 + ((i * 7) % 4)), 6, 3));
  });

  it("takes the first token's vector, or a pooled output, as the folder says", async () => {
    const cls = open(tiny({ "config.json": { ...TINY_CONFIG, pooling: "cls" } }));
    expectNear((await cls.embedDocuments(["red"]))[0], [0, 0, 1]);
    const pooled = open(tiny({ "model.onnx": tinyModel({ isPooled: true }) }));
    expectNear((await pooled.embedDocuments(["red"]))[0], unit(6, 0, 3));
    const named = open(
      tiny({
        "config.json": { ...TINY_CONFIG, output: "last_hidden_state", pooling: "cls" },
        "model.onnx": tinyModel({ isPooled: true }),
      }),
    );
    expectNear((await named.embedDocuments(["red"]))[0], [0, 0, 1]);
  });

  it("feeds the inputs that the model has, in its type", async () => {
    const embedder = open(tiny({ "model.onnx": tinyModel({ inputs: ["input_ids"], type: "int32" }) }));
    expectNear((await embedder.embedDocuments(["blue"]))[0], unit(0, 6, 3));
  });

  it("cuts a long text and keeps the tokens at both ends", async () => {
    const [vector] = await open(tiny()).embedDocuments([`${"red ".repeat(5)}blue ${"red ".repeat(90)}`]);
    // [CLS], five red, blue, [SEP]: eight tokens.
    expectNear(vector, unit(30, 6, 3));
  });

  it("has no vector for blank text and for text that is mostly unknown", async () => {
    const embedder = open(tiny());
    const vectors = await embedder.embedDocuments(["", "강아지", "red 강아지", "red blue 강아지"]);
    expect(vectors.map((vector) => vector !== null)).toEqual([false, false, false, true]);
    // What the model's own prefix adds does not make the text known.
    expect(await embedder.embedQuery("강아지")).toBeNull();
    expect(await embedder.embedQuery("red blue 강아지")).not.toBeNull();
  });

  it("answers a question before texts that wait", async () => {
    const backend = new OnnxBackend({ folder: tiny(), threads: 1, idleMs: 0, script: MODEL_PROCESS });
    const order: string[] = [];
    const ask = (role: "query" | "document", texts: string[]) =>
      backend
        .ask({ role, texts, timeoutMs: 20_000, signal: new AbortController().signal })
        .then(() => order.push(role));
    await Promise.all([ask("document", new Array(64).fill("red")), ask("query", ["blue"])]);
    backend.close();
    expect(order).toEqual(["query", "document"]);
  });

  it("ends a process that hangs over texts, and starts another", async () => {
    const folder = tempFolder();
    const script = join(folder, "hangs.mjs");
    const pids = join(folder, "pids");
    writeFileSync(
      script,
      `import { appendFileSync } from "node:fs";
       process.once("message", () => appendFileSync(${JSON.stringify(pids)}, process.pid + "\\n"));
       setInterval(() => {}, 1000);`,
    );
    const backend = new OnnxBackend({ folder: tiny(), threads: 1, idleMs: 0, script });
    const { signal } = new AbortController();
    const started = (): number[] =>
      existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n").map(Number) : [];
    for (const count of [1, 2]) {
      const asked = backend.ask({ role: "query", texts: ["red"], timeoutMs: 20_000, signal });
      asked.catch(() => {});
      await vi.waitFor(() => expect(started()).toHaveLength(count), 20_000);
      const late = backend.ask({ role: "document", texts: ["red"], timeoutMs: 1, signal });
      await expect(late).rejects.toMatchObject({ reason: "unreachable", message: / 1 ms/ });
      await expect(asked).rejects.toMatchObject({ reason: "unreachable" });
    }
    backend.close();
    expect(new Set(started()).size).toBe(2);
  });

  it("reads a plain sentence-transformers folder", async () => {
    const folder = tiny({
      "config.json": {
        _name_or_path: "tiny/plain",
        hidden_size: 3,
        max_position_embeddings: 10,
        pad_token_id: 1,
        model_type: "xlm-roberta",
      },
      "model.onnx": null,
      "onnx/model.onnx": tinyModel(),
      "1_Pooling/config.json": { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false },
      "config_sentence_transformers.json": { prompts: { query: "ask: ", passage: "" } },
      "sentence_bert_config.json": { max_seq_length: 16 },
      "tokenizer_config.json": {},
    });
    const embedder = open(folder);
    const identity = embedder.identity();
    expect(identity && identityKey(identity)).toBe('onnx:tiny/plain:3:["ask: ",""]');
    expectNear((await embedder.embedDocuments(["red"]))[0], [0, 0, 1]);
  });

  const bad: [string, Parameters<typeof writeTinyModel>[1], RegExp][] = [
    ["no config.json", { "config.json": null }, /no config\.json/],
    ["a config.json that is no JSON", { "config.json": "{" }, /config\.json is not JSON/],
    ["a config.json that is a list", { "config.json": [] }, /not a JSON object/],
    ["no dimension", { "config.json": { max_tokens: 8 } }, /dims .* is missing/],
    [
      "a foreign pooling",
      { "config.json": { ...TINY_CONFIG, pooling: "max" } },
      /pooling .* one of mean, cls/,
    ],
    ["a dimension of 0", { "config.json": { ...TINY_CONFIG, dims: 0 } }, /dims .* whole number from 1/],
    ["a prefix that is no text", { "config.json": { ...TINY_CONFIG, query_prefix: 1 } }, /query_prefix/],
    ["a level of 1", { "config.json": { ...TINY_CONFIG, unrelated_cosine: 1 } }, /unrelated_cosine/],
    ["no tokenizer", { "tokenizer.json": null }, /no tokenizer\.json/],
    ["no model", { "model.onnx": null }, /no model\.onnx/],
    [
      "two poolings",
      {
        "config.json": { hidden_size: 3 },
        "1_Pooling/config.json": { pooling_mode_cls_token: true, pooling_mode_max_tokens: true },
      },
      /mean or cls alone/,
    ],
  ];
  it.each(bad)("says what is wrong with a folder of %s, and recovers", async (_, files, message) => {
    const folder = tiny(files);
    let now = 0;
    const embedder = open(folder, () => now);
    expect(embedder.identity()).toBeNull();
    const failing = { status: "failing", reason: "misconfigured", detail: expect.stringMatching(message) };
    expect(embedder.state()).toEqual(failing);
    await expect(embedder.embedQuery("red")).rejects.toMatchObject({ code: "embedding_failed" });
    expect(JSON.stringify(embedder.state())).not.toContain(folder);
    rmSync(join(folder, "1_Pooling"), { recursive: true, force: true });
    writeTinyModel(folder);
    now += 60_000;
    await expect(embedder.embedQuery("red")).resolves.not.toBeNull();
    expect(embedder.state()).toEqual({ status: "ready" });
  });

  const broken: [string, Parameters<typeof writeTinyModel>[1], RegExp][] = [
    ["a damaged model", { "model.onnx": tinyModel().subarray(0, 90) }, /model's file cannot be read/],
    ["a model that is a text", { "model.onnx": "<html>" }, /model's file cannot be read/],
    ["a broken tokenizer", { "tokenizer.json": {} }, /tokenizer\.json cannot be used/],
    ["an unknown input", { "model.onnx": tinyModel({ inputs: ["input_ids", "pixels"] }) }, /input .* pixels/],
    ["an unknown output", { "config.json": { ...TINY_CONFIG, output: "x" } }, /no output of the name/],
  ];
  it.each(broken)("fails in one line with %s", async (_, files, message) => {
    const embedder = open(tiny(files));
    await expect(embedder.embedQuery("red")).rejects.toMatchObject({
      reason: "misconfigured",
      message: expect.stringMatching(message),
    });
    expect(embedder.state()).toMatchObject({ status: "failing", detail: expect.stringMatching(message) });
  });

  it("refuses vectors of another width than config.json says", async () => {
    const embedder = open(tiny({ "config.json": { ...TINY_CONFIG, dims: 4 } }));
    await expect(embedder.embedQuery("red")).rejects.toMatchObject({ message: /not 4 numbers a text/ });
  });

  it("says what to install where the runtime is missing", async () => {
    const folder = tempFolder();
    cpSync(join(ROOT, "dist", "bin"), folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    const backend = new OnnxBackend({
      folder: tiny(),
      threads: 1,
      idleMs: 0,
      script: join(folder, "model-process.mjs"),
    });
    const embedder = new BackendEmbedder({
      backend,
      card: { fusionWeight: 1, centre: null, unrelatedCosine: null, languages: null, isContextual: true },
      model: "",
      queryTimeoutMs: 20_000,
      documentTimeoutMs: 20_000,
      cacheSize: 0,
      cacheTtlMs: 0,
      now: () => 0,
    });
    opened.push(embedder);
    await expect(embedder.embedQuery("red")).rejects.toMatchObject({
      message: /npm install onnxruntime-node/,
    });
    expect(embedder.state()).toMatchObject({ status: "failing", reason: "misconfigured" });
  });

  it("embeds the bare words of a tokenizer without special tokens", async () => {
    const embedder = open(tiny({ "tokenizer.json": { ...tinyTokenizer(), post_processor: null } }));
    expectNear((await embedder.embedDocuments(["red"]))[0], [1, 0, 0]);
  });

  it("rejects what runs when it is closed, and later calls", async () => {
    const embedder = open(tiny());
    const running = embedder.embedDocuments(["red"]);
    embedder.close();
    await expect(running).rejects.toMatchObject({ message: /closed/ });
    await expect(embedder.embedQuery("red")).rejects.toMatchObject({ message: /closed/ });
  });
});

describe("batches", () => {
  it("hold rows of like length and at most 512 tokens", () => {
    const lengths = [3, 500, 4, 3, 600, 2];
    const batches = batchesOf(lengths.map((length) => new Array<number>(length).fill(1)));
    expect(batches).toEqual([[5, 0, 3, 2], [1], [4]]);
    expect(batchesOf([])).toEqual([]);
    const many = batchesOf(new Array(100).fill(new Array(16).fill(1)));
    expect(many.map((batch) => batch.length)).toEqual([32, 32, 32, 4]);
  });
});
