import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Config, readConfig, readModelSettings } from "../../ts/config.js";
import { writeChosenModel } from "../../ts/settings/chosen-model.js";
import { SettingReader } from "../../ts/settings/reader.js";

import { tempFolder } from "../support/temp.js";

/** name, a good value, what it becomes, where it stands, the default, bad values */
type Row = [string, string, unknown, (config: Config) => unknown, unknown, string[]];

const SETTINGS: Row[] = [
  ["CPERSONA_SQLITE_DRIVER", "node:sqlite", "node:sqlite", (c) => c.database.driver, "auto", ["sqlite"]],
  ["CPERSONA_SYNCHRONOUS", "full", "FULL", (c) => c.database.synchronous, "NORMAL", ["off"]],
  [
    "CPERSONA_BUSY_TIMEOUT_MS",
    "100",
    100,
    (c) => c.database.busyTimeoutMs,
    30_000,
    ["-1", "x", "600001", "1.5"],
  ],
  ["CPERSONA_NATIVE", "off", "off", (c) => c.native.mode, "auto", ["no"]],
  ["CPERSONA_SIMD", "AVX2", "avx2", (c) => c.native.simd, "auto", ["sse9"]],
  ["CPERSONA_EMBEDDING_MODEL", "bge", "bge", (c) => c.embedding.model, "", []],
  ["CPERSONA_EMBEDDING_THREADS", "4", 4, (c) => c.embedding.threads, 2, ["0", "65", "many"]],
  ["CPERSONA_EMBEDDING_IDLE_SECS", "0", 0, (c) => c.embedding.idleMs, 300_000, ["-1", "86401"]],
  ["CPERSONA_EMBEDDING_QUERY_TIMEOUT_MS", "9", 9, (c) => c.embedding.queryTimeoutMs, 2000, ["0", "soon"]],
  ["CPERSONA_EMBEDDING_TIMEOUT_SECS", "9", 9000, (c) => c.embedding.documentTimeoutMs, 30_000, ["0"]],
  ["CPERSONA_EMBEDDING_CACHE_SIZE", "0", 0, (c) => c.embedding.cacheSize, 256, ["-1"]],
  ["CPERSONA_EMBEDDING_CACHE_TTL", "1", 1000, (c) => c.embedding.cacheTtlMs, 300_000, ["-1"]],
  ["CPERSONA_EMBEDDING_WEIGHT", "0.7", 0.7, (c) => c.embedding.fusionWeight, null, []],
  ["CPERSONA_RECALL_MODE", " RSF ", "rsf", (c) => c.recall.mode, "rrf", ["best"]],
  ["CPERSONA_MAX_MEMORIES", "5", 5, (c) => c.recall.window, 10_000, ["0", "-3", "1e3", "ten"]],
  ["CPERSONA_VECTOR_REACH", "5", 5, (c) => c.recall.reach, 0, ["-1"]],
  ["CPERSONA_VECTOR_FAR_LIMIT", "5", 5, (c) => c.recall.farLimit, 0, ["-1"]],
  ["CPERSONA_RECALL_DEPTH_FLOOR", "5", 5, (c) => c.recall.depthFloor, 0, ["-1"]],
  ["CPERSONA_RRF_K", "60", 60, (c) => c.recall.rrfK, 3, ["0", "10.5"]],
  ["CPERSONA_VECTOR_MIN_SIMILARITY", "-0.5", -0.5, (c) => c.recall.minSimilarity, 0.3, ["2", "NaN", "high"]],
  ["CPERSONA_MAX_CONTENT_LENGTH", "10", 10, (c) => c.limits.contentChars, 16_000, ["0"]],
  ["CPERSONA_MAX_METADATA_LENGTH", "10", 10, (c) => c.limits.metadataChars, 8000, ["1"]],
  ["CPERSONA_FUTURE_TIMESTAMP_SKEW_SECONDS", "1", 1000, (c) => c.limits.futureSkewMs, 300_000, ["-1"]],
  ["CPERSONA_FUTURE_TIMESTAMP_MODE", "Reject", "reject", (c) => c.limits.futureMode, "warn", ["maybe"]],
  ["CPERSONA_RECALL_PREVIEW_CHARS", "0", 0, (c) => c.response.previewChars, 500, ["-1"]],
  ["CPERSONA_VECTOR_SEARCH_MODE", "LOCAL", "local", (c) => c.remote.mode, "local", ["nearby"]],
  ["CPERSONA_STORE_BLOB", "yes", true, (c) => c.remote.storesVectors, true, ["maybe"]],
  [
    "CPERSONA_REMOTE_SEARCH_TIMEOUT_SECS",
    "0.5",
    500,
    (c) => c.remote.searchTimeoutMs,
    5000,
    ["0", "-1", "3601", "soon"],
  ],
  ["CPERSONA_REMOTE_INDEX_TIMEOUT_SECS", "2", 2000, (c) => c.remote.indexTimeoutMs, 10_000, ["0", "NaN"]],
  ["CPERSONA_DEGRADED_ADVISORY", "off", false, (c) => c.maintenance.advisory, true, ["perhaps"]],
  ["CPERSONA_AGENT_ID", "kei", "kei", (c) => c.agentId, "default", []],
  ["CPERSONA_PROJECT_ID", "p1", "p1", (c) => c.projectId, null, []],
  ["CPERSONA_LOG_LEVEL", "debug", "debug", (c) => c.logLevel, "warn", ["loud"]],
];

describe("readConfig", () => {
  it.each(SETTINGS)("reads %s", (name, value, expected, at) => {
    const config = readConfig({ [name]: value });
    expect(at(config)).toBe(expected);
    expect(config.warnings).toEqual([]);
  });

  it.each(SETTINGS)("has a default for %s, also when it is empty", (name, _, __, at, fallback) => {
    expect(at(readConfig({}))).toBe(fallback);
    expect(at(readConfig({ [name]: "" }))).toBe(fallback);
    expect(readConfig({ [name]: "" }).warnings).toEqual([]);
  });

  const bad = SETTINGS.flatMap(([name, , , at, fallback, values]) =>
    values.map((value) => [name, value, at, fallback] as const),
  );
  it.each(bad)("warns about %s=%s and goes on with the default", (name, value, at, fallback) => {
    const config = readConfig({ [name]: value });
    expect(at(config)).toBe(fallback);
    expect(config.warnings).toEqual([expect.stringMatching(new RegExp(`^${name} must be .*; .* is used$`))]);
  });

  it("says with every warning what is allowed", () => {
    const { warnings } = readConfig({
      CPERSONA_RRF_K: "x",
      CPERSONA_RECALL_MODE: "x",
      CPERSONA_BUSY_TIMEOUT_MS: "x",
    });
    expect([...warnings].sort()).toEqual([
      "CPERSONA_BUSY_TIMEOUT_MS must be a whole number from 0 to 600000; 30000 is used",
      "CPERSONA_RECALL_MODE must be one of rrf, rsf, cascade; rrf is used",
      "CPERSONA_RRF_K must be a whole number from 1; 3 is used",
    ]);
  });

  it("takes the older names of the embedding settings, after the newer ones", () => {
    const old = { EMBEDDING_MODE: "http", EMBEDDING_HTTP_URL: "http://old/embed", EMBEDDING_MODEL: "old" };
    expect(readConfig(old).embedding).toMatchObject({ mode: "http", url: "http://old/embed", model: "old" });
    const both = { ...old, CPERSONA_EMBEDDING_MODE: "none", CPERSONA_EMBEDDING_MODEL: "new" };
    expect(readConfig(both).embedding).toMatchObject({ mode: "none", model: "new" });
  });

  it("reads key, address and model of mode api, by their older names too", () => {
    const old = {
      EMBEDDING_MODE: "api",
      EMBEDDING_API_KEY: " k1 ",
      EMBEDDING_API_URL: "https://old/v1/embeddings",
    };
    expect(readConfig(old).embedding).toMatchObject({
      mode: "api",
      apiKey: "k1",
      url: "https://old/v1/embeddings",
      model: "text-embedding-3-small",
    });
    const { url } = readConfig({ EMBEDDING_MODE: "api", EMBEDDING_API_KEY: "k" }).embedding;
    expect(url).toBe("https://api.openai.com/v1/embeddings");
  });

  it.each([
    [{}, "CPERSONA_EMBEDDING_API_KEY"],
    [{ EMBEDDING_API_KEY: "two words" }, "CPERSONA_EMBEDDING_API_KEY"],
    [{ EMBEDDING_API_KEY: "k\r\nx-header: 1" }, "CPERSONA_EMBEDDING_API_KEY"],
    [{ EMBEDDING_API_KEY: "k", EMBEDDING_API_URL: "ftp://x" }, "CPERSONA_EMBEDDING_API_URL"],
  ])("stops for mode api with %j", (settings, field) => {
    const read = () => readConfig({ EMBEDDING_MODE: "api", ...settings });
    expect(read).toThrow(expect.objectContaining({ code: "invalid_setting", field }));
    expect(read).not.toThrow(/two words|x-header/);
  });

  it.each([
    [{}, undefined],
    [{ CPERSONA_EMBEDDING_MODEL: "../elsewhere" }, undefined],
    [{ CPERSONA_EMBEDDING_MODEL: "e5" }, join("/m", "e5")],
    [{ CPERSONA_EMBEDDING_MODEL_PATH: "/f" }, "/f"],
    [{ CPERSONA_EMBEDDING_MODEL: "e5", CPERSONA_EMBEDDING_MODEL_PATH: "/f" }, "/f"],
  ])("finds the model of mode onnx with %j", (settings, path) => {
    const read = () =>
      readConfig({ CPERSONA_EMBEDDING_MODE: "onnx", CPERSONA_MODEL_DIR: "/m", ...settings }).embedding
        .modelPath;
    if (path === undefined)
      expect(read).toThrow(expect.objectContaining({ field: "CPERSONA_EMBEDDING_MODEL" }));
    else expect(read()).toBe(path);
  });

  it("takes the chosen model as default; the environment wins", () => {
    const folder = tempFolder();
    const at = (more = {}) => readConfig({ CPERSONA_MODEL_DIR: folder, ...more }).embedding;
    expect(at().mode).toBe("static");
    writeChosenModel(folder, "e5");
    expect(at()).toMatchObject({ mode: "onnx", model: "e5", modelPath: join(folder, "e5") });
    expect(at({ CPERSONA_EMBEDDING_MODEL: "other" }).modelPath).toBe(join(folder, "other"));
    expect(at({ EMBEDDING_MODE: "none" })).toMatchObject({ mode: "none", model: "" });
    writeFileSync(join(folder, "chosen.json"), '{"model":"../x"}');
    expect(at().mode).toBe("static");
    writeFileSync(join(folder, "chosen.json"), "{");
    expect(at().mode).toBe("static");
    writeChosenModel(folder, null);
    expect(at().mode).toBe("static");
  });

  it.each(["openai", "onnx-web", "yes"])("stops for the unknown embedding mode '%s'", (mode) => {
    expect(() => readConfig({ CPERSONA_EMBEDDING_MODE: mode })).toThrow(
      expect.objectContaining({ code: "invalid_setting", field: "CPERSONA_EMBEDDING_MODE" }),
    );
  });

  it.each(["", "localhost:8455/embed", "file:///embed", "http://"])(
    "stops for mode http with the address '%s'",
    (url) => {
      expect(() => readConfig({ CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: url })).toThrow(
        expect.objectContaining({ code: "invalid_setting", field: "CPERSONA_EMBEDDING_URL" }),
      );
    },
  );

  it.each(["CPERSONA_AGENT_ID", "CPERSONA_PROJECT_ID"])("stops for a %s over 256 characters", (name) => {
    expect(readConfig({ [name]: "x".repeat(256) }).warnings).toEqual([]);
    expect(() => readConfig({ [name]: "x".repeat(257) })).toThrow(`${name} must have at most 256 characters`);
  });

  it("puts the database below the user's home, never below the working directory or the package", () => {
    const { path } = readConfig({}).database;
    expect(path.startsWith(homedir()) || path.startsWith(process.env["XDG_DATA_HOME"] ?? "\0")).toBe(true);
    expect(path.startsWith(process.cwd())).toBe(false);
    expect(path).toMatch(/cpersona-native.*memory\.db$/);
  });

  it("is frozen", () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true);
  });
});

describe("SettingReader", () => {
  it.each([
    ["true", true],
    [" ON ", true],
    ["1", true],
    ["yes", true],
    ["false", false],
    ["Off", false],
    ["0", false],
    ["no", false],
  ])("reads '%s' as %s", (value, expected) => {
    expect(new SettingReader({ X: value }).boolean("X", !expected)).toBe(expected);
  });

  it("warns about a truth that is none", () => {
    const read = new SettingReader({ X: "perhaps" });
    expect(read.boolean("X", true)).toBe(true);
    expect(read.warnings).toEqual(["X must be true or false; true is used"]);
  });
});

describe("a path", () => {
  const PATHS = {
    CPERSONA_DB_PATH: (config: Config) => config.database.path,
    CPERSONA_EXPORT_DIR: (config: Config) => config.maintenance.exportFolder,
    CPERSONA_OPERATING_CONTEXT_PATH: (config: Config) => config.maintenance.operatingContextPath,
    CPERSONA_ACL_FILE: (config: Config) => config.aclFile,
    CPERSONA_AMBIENT_LOG: (config: Config) => config.ambient.hook.logFile,
    CPERSONA_EMBEDDING_MODEL_PATH: (config: Config) => config.embedding.modelPath,
  };

  it.each(Object.entries(PATHS))("of %s may start with ~, not with another account", (name, pathOf) => {
    const more = name === "CPERSONA_EMBEDDING_MODEL_PATH" ? { CPERSONA_EMBEDDING_MODE: "onnx" } : {};
    expect(pathOf(readConfig({ ...more, [name]: "~/x/y" }))).toBe(`${homedir()}/x/y`);
    expect(pathOf(readConfig({ ...more, [name]: "~" }))).toBe(homedir());
    expect(pathOf(readConfig({ ...more, [name]: "./~user" }))).toBe("./~user");
    expect(() => readConfig({ ...more, [name]: "~user/x" })).toThrow(
      `${name} must not start with ~ and a name`,
    );
  });

  it("of the folder of models too", () => {
    expect(readModelSettings({ CPERSONA_MODEL_DIR: "~/models" }).folder).toBe(`${homedir()}/models`);
    expect(() => readModelSettings({ CPERSONA_MODEL_DIR: "~user" })).toThrow("must not start with ~");
  });
});
