// The parts of `bench` that need no measuring: what may be asked, what is kept, what is compared.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCorpus } from "../../../ts/cli/bench/corpus.js";
import { startEmbedServer } from "../../../ts/cli/bench/embed-server.js";
import { benchName, planOf } from "../../../ts/cli/bench/options.js";
import { importLines } from "../../../ts/cli/bench/peer.js";
import { compared, keep, type Machine, noiseHint, readRecord } from "../../../ts/cli/bench/record.js";
import { benchScan } from "../../../ts/cli/bench/scan.js";
import { percentile, renderTable, timed } from "../../../ts/cli/bench/table.js";
import { mixedVectors, randomVectors, readTexts } from "../../../ts/cli/bench/vectors.js";
import { openCore } from "../../../ts/native/core.js";
import { openMemory } from "../../../ts/open-memory.js";
import { tempFolder } from "../../support/temp.js";

const MACHINE: Machine = {
  cpu: "Some(R) CPU @ 2 GHz",
  cores: 2,
  memoryGb: 8,
  simd: "avx2",
  node: "v20",
  version: "1",
  commit: null,
};

describe("what bench can be asked", () => {
  it("has a plan for each benchmark", () => {
    expect(planOf(benchName("scan"), { rows: "10, 20", dims: "8", threads: "1", runs: "3" })).toEqual({
      rows: [10, 20],
      dims: [8],
      threads: [1],
      runs: 3,
    });
    for (const name of ["recall", "store", "hook", "embed"])
      expect(planOf(benchName(name), {}).rows.length).toBeGreaterThan(0);
  });

  it.each([
    [{ rows: "0" }, "rows"],
    [{ rows: "ten" }, "rows"],
    [{ rows: "10," }, "rows"],
    [{ rows: "99999999" }, "rows"],
    [{ dims: "1.5" }, "dims"],
    [{ threads: "1000" }, "threads"],
    [{ runs: "-1" }, "runs"],
  ])("refuses %j", (options, field) => {
    expect(() => planOf("scan", options)).toThrow(
      expect.objectContaining({ code: "invalid_argument", field }),
    );
  });

  it("refuses another benchmark and names those there are", () => {
    expect(() => benchName("scna")).toThrow("scan, recall, store, hook, embed");
  });
});

describe("a kept result", () => {
  it("holds the benchmarks of a day, the newest rows of each", () => {
    const folder = tempFolder();
    keep(folder, "scan", MACHINE, [{ method: "exact", "p50 ms": 1 }]);
    keep(folder, "scan", MACHINE, [{ method: "exact", rows: 5, "p50 ms": 1 }]);
    keep(folder, "hook", MACHINE, [{ what: "hook", "p50 ms": 5 }]);
    const path = keep(folder, "scan", MACHINE, [{ method: "exact", "p50 ms": 2 }]);
    expect(path).toMatch(/some-r-cpu-2-ghz.\d{4}-\d\d-\d\d\.json$/);
    expect(readdirSync(folder)).toEqual(["some-r-cpu-2-ghz"]);
    expect(readRecord(path).benches).toEqual({
      scan: [
        { method: "exact", rows: 5, "p50 ms": 1 },
        { method: "exact", "p50 ms": 2 },
      ],
      hook: [{ what: "hook", "p50 ms": 5 }],
    });
  });

  it("is compared row by row with what was measured the same way", () => {
    const kept = [
      { method: "exact", rows: 10, "least ms": 2, "GB/s": 5 },
      { method: "exact", rows: 20, "least ms": 8, "GB/s": 5 },
    ];
    const now = [
      { method: "exact", rows: 20, "least ms": 4, "GB/s": 10 },
      { method: "int8", rows: 20, "least ms": 1, "GB/s": 10 },
    ];
    expect(compared(now, kept).map((row) => row["ratio to kept"])).toEqual([0.5, null]);
  });

  it("comes with what a reader has to know of noise", () => {
    const rows = [{ method: "memory read", "p50 ms": 3, "ratio to kept": 1.5 }];
    const record = { date: "2026-01-02", machine: MACHINE, benches: {} };
    const hint = noiseHint(rows, record, { ...MACHINE, simd: "avx512" });
    expect(hint).toContain("noise");
    expect(hint).toContain("1.50 times as long");
    expect(hint).toContain("another machine");
    expect(noiseHint([{ "ratio to kept": null }], record, MACHINE)).toContain("nothing in the kept result");
  });

  it("is refused when it is none", () => {
    const path = join(tempFolder(), "x.json");
    for (const text of ["", "[]", '{"benches": 1}']) {
      writeFileSync(path, text);
      expect(() => readRecord(path)).toThrow(expect.objectContaining({ field: "compare" }));
    }
    expect(() => readRecord(join(tempFolder(), "none.json"))).toThrow("--record");
  });
});

describe("a table", () => {
  it("has every column that a row names, and dashes where a row has none", () => {
    const text = renderTable([
      { what: "a", "p50 ms": 1.234 },
      { what: "bc", "p50 ms": 120.4, MB: 7 },
    ]);
    expect(text.split("\n")).toEqual(["what  p50 ms  MB", "a       1.23   -", "bc       120   7"]);
  });

  it("takes percentiles between neighbours", () => {
    expect(percentile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(percentile([1], 0.95)).toBe(1);
    expect(percentile([], 0.5)).toBeNaN();
  });
});

describe("a time", () => {
  it("is taken of the runs from 0, not of those before", async () => {
    const runs: number[] = [];
    expect(await timed(3, 2, (run) => runs.push(run))).toHaveLength(3);
    expect(runs).toEqual([-2, -1, 0, 1, 2]);
  });
});

describe("the texts to store", () => {
  it("are the same for whoever asks, in whatever order, and no two are equal", () => {
    const [one, other] = [makeCorpus(7), makeCorpus(7)];
    const texts = Array.from({ length: 500 }, (_, i) => one.text(i));
    expect(Array.from(texts, (_, i) => other.text(499 - i)).reverse()).toEqual(texts);
    expect(new Set(texts).size).toBe(500);
    expect(texts[19]).toMatch(/^..の件は来週の..で決める。..を終えたら..に進む。19$/);
    expect(makeCorpus(8).text(0)).not.toBe(texts[0]);
  });

  it("come with questions of several kinds, another each run", () => {
    const { queries } = makeCorpus(7);
    const ask = (kind: keyof typeof queries): string[] =>
      Array.from({ length: 20 }, (_, i) => queries[kind](i - 5));
    expect(ask("six common words")).toEqual(ask("six common words"));
    expect(new Set(ask("six common words")).size).toBe(20);
    expect(ask("forty words").every((query) => query.split(" ").length === 40)).toBe(true);
    expect(new Set(ask("one rare word")).size).toBeGreaterThan(15);
    expect(ask("two characters").every((query) => query.length === 2)).toBe(true);
    expect(new Set(ask("empty"))).toEqual(new Set([""]));
  });
});

describe("what CPersona is filled with", () => {
  it("are the rows with the vectors of the embedding server: an import believes them", async () => {
    const folder = tempFolder();
    const path = join(folder, "import.jsonl");
    const corpus = makeCorpus(7);
    const embedder = await startEmbedServer();
    const memory = await openMemory({
      databasePath: join(folder, "memory.db"),
      environment: { CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: embedder.url },
    });
    try {
      writeFileSync(path, importLines(corpus, embedder, 5, 20).join("\n"));
      const request = { inputPath: path, targetAgent: "", dryRun: false, unconfined: true };
      expect(await memory.maintenance.importMemories(request)).toMatchObject({
        importedMemories: 20,
        vectors: { kept: 20, dropped: 0 },
        errors: [],
      });
    } finally {
      await memory.close();
      embedder.close();
    }
  });
});

describe("vectors to search", () => {
  it("are the same for the same seed, of unit length", () => {
    const maker = randomVectors(16);
    expect(maker.make(5, 3)).toEqual(maker.make(5, 3));
    expect(maker.make(5, 3)).not.toEqual(maker.make(5, 4));
    const [one = new Float32Array()] = [maker.make(1, 9)];
    expect(Math.hypot(...one)).toBeCloseTo(1, 5);
  });

  it("are mixtures of embeddings where texts are given", async () => {
    const maker = await mixedVectors(["red", "blue", "green", ""], {
      identity: () => ({
        provider: "static",
        model: "m",
        dimension: 3,
        prefixes: { query: "", document: "" },
      }),
      // A text without words has no vector.
      embedDocuments: async (texts) =>
        texts.map((text, i) => (text === "" ? null : Float32Array.from([0, 1, 2], (j) => Number(i === j)))),
    });
    expect(maker.name).toBe("embeddings (static)");
    const rows = maker.make(50, 1);
    expect(rows).toHaveLength(50 * maker.dimension);
    expect(new Set(rows.slice(0, 50)).size).toBeGreaterThan(10);
  });

  it("come from the texts of a folder, each once", () => {
    const folder = tempFolder();
    mkdirSync(join(folder, "below"));
    writeFileSync(join(folder, "a.json"), JSON.stringify({ x: ["a text of twenty characters", "short"] }));
    writeFileSync(join(folder, "b.md"), "a text of twenty characters\n\nanother text of that length");
    expect(readTexts(folder)).toEqual(["a text of twenty characters", "another text of that length"]);
    expect(() => readTexts(join(folder, "below"))).toThrow(expect.objectContaining({ field: "texts" }));
    expect(() => readTexts(join(folder, "none"))).toThrow(expect.objectContaining({ field: "texts" }));
  });
});

describe("a scan", () => {
  it("has a line for each method, and a part for each way to narrow it", async () => {
    const { core } = openCore();
    const rows = await benchScan({
      core,
      twin: null,
      rows: 600,
      maker: randomVectors(16),
      threads: [1],
      runs: 2,
      python: null,
      readBytes: 2 ** 20,
    });
    const recall = Object.fromEntries(rows.map((row) => [row["method"], row["recall@10"]]));
    expect(recall).toMatchObject({
      "memory read": null,
      exact: 1,
      int8: 1,
      auto: 1,
      "auto, newest 10000": 1,
      "auto, one scope of 16": 1,
    });
    expect(rows.every((row) => Number(row["p50 ms"]) > 0)).toBe(true);
  });
});
