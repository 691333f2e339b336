import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openTestMemory } from "../../support/memory.js";
import { sql } from "../../support/store.js";
import { tempFolder } from "../../support/temp.js";
import { exportTo, fill, importFrom, memoryRecord, newPath, timeless, writeFile } from "./support.js";

const STATIC = { settings: { CPERSONA_EMBEDDING_MODE: "static" } };
const ALL_AGENTS = ["agent-a", "agent-b"];

describe("an export", () => {
  it("comes back byte for byte after a wipe and an import", async () => {
    const { service } = await openTestMemory(STATIC);
    await fill(service);
    await service.recall({ agentId: "agent-a", query: "staging host" });
    const path = newPath();
    const before = await exportTo(service, path);
    for (const agent of ALL_AGENTS) await service.deleteAgentData(agent);
    expect(await importFrom(service, path)).toMatchObject({
      importedMemories: 5,
      skippedMemories: 0,
      importedEpisodes: 2,
      updatedProfiles: 1,
      relations: 1,
      errors: [],
      leftOut: {},
    });
    expect(timeless(await exportTo(service, newPath()))).toBe(timeless(before));
  });

  it("comes back in another store, for the owner only", async () => {
    const { service } = await openTestMemory(STATIC);
    await fill(service);
    const path = newPath();
    const before = await exportTo(service, path);
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
    const other = await openTestMemory(STATIC);
    await importFrom(other.service, path);
    expect(timeless(await exportTo(other.service, newPath()))).toBe(timeless(before));
    expect(other.service.maintenance.queueStatus().pending).toBe(0);
    const found = await other.service.recall({ agentId: "agent-a", query: "staging host" });
    expect(found.hits.length).toBeGreaterThan(0);
  });

  it("starts with a header that counts what follows, in the format of CPersona", async () => {
    const { service } = await openTestMemory();
    await fill(service);
    const lines = (await exportTo(service, newPath(), { agentId: "agent-a" })).trimEnd().split("\n");
    const records = lines.map((line) => JSON.parse(line));
    expect(records[0]).toMatchObject({
      _type: "header",
      version: "cpersona-export/1.1",
      agent_id: "agent-a",
      memory_count: 4,
      episode_count: 2,
      has_profile: true,
      profile_count: 1,
      entity_count: 0,
      mention_count: 0,
      relation_count: 0,
    });
    expect(records.map(({ _type }) => _type)).toEqual([
      "header",
      ...["memory", "memory", "memory", "memory"],
      ...["episode", "episode"],
      "profile",
    ]);
    expect(records[1]).toEqual({
      _type: "memory",
      id: 1,
      agent_id: "agent-a",
      msg_id: "m1",
      content: "the staging host is gamma 🎌",
      source: { type: "Agent", id: "agent-a", name: "" },
      timestamp: expect.any(String),
      metadata: { n: 1, deep: [null, "東京"] },
      created_at: expect.any(String),
      project_id: "",
      channel: "",
      locked: 1,
      recall_count: 0,
      last_recalled_at: null,
      tags: ["infra"],
    });
    expect(records[4].relations).toEqual([
      { type: "supersedes", ref: "mem:1", created_at: expect.any(String) },
    ]);
  });

  it("replaces an older export, and nothing else", async () => {
    const { service } = await openTestMemory();
    await fill(service);
    const path = newPath();
    await exportTo(service, path);
    await exportTo(service, path);
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
    writeFileSync(path, "my own notes\n");
    await expect(exportTo(service, path)).rejects.toThrow("exists and is not an export");
    expect(readFileSync(path, "utf8")).toBe("my own notes\n");
  });

  it("stays inside CPERSONA_EXPORT_DIR", async () => {
    const folder = tempFolder();
    const outside = tempFolder();
    const { service } = await openTestMemory({ settings: { CPERSONA_EXPORT_DIR: folder } });
    await fill(service);
    await service.maintenance.exportMemories({ agentId: "", outputPath: "a/b.jsonl", embeddings: false });
    expect(readdirSync(join(folder, "a"))).toEqual(["b.jsonl"]);
    if (process.platform !== "win32") symlinkSync(outside, join(folder, "link"));
    for (const path of [join(outside, "x"), "../x", "a/../../x", join(folder, "link", "x"), "a\0b", ""]) {
      const request = { agentId: "", outputPath: path, embeddings: false };
      await expect(service.maintenance.exportMemories(request), path).rejects.toThrow(/^output_path /);
      await expect(importFrom(service, path), path).rejects.toThrow(/^(input_path |File not found)/);
    }
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe("an import", () => {
  it("adds nothing the second time", async () => {
    const { service } = await openTestMemory(STATIC);
    await fill(service);
    const path = newPath();
    const before = await exportTo(service, path);
    expect(await importFrom(service, path)).toMatchObject({
      importedMemories: 0,
      skippedMemories: 5,
      importedEpisodes: 0,
      skippedEpisodes: 2,
      updatedProfiles: 0,
      relations: 0,
    });
    expect(timeless(await exportTo(service, newPath()))).toBe(timeless(before));
  });

  it("takes new ids where the old ones are taken, and refs follow", async () => {
    const { service } = await openTestMemory();
    await fill(service);
    const path = newPath();
    await exportTo(service, path, { agentId: "agent-a" });
    const other = await openTestMemory();
    for (let i = 0; i < 3; i++) await other.service.store({ agentId: "agent-z", content: `note ${i}` });
    await importFrom(other.service, path);
    const rows = sql(other.path, "SELECT from_key, to_key FROM relations");
    const newer = sql(other.path, "SELECT id FROM memories WHERE content = 'the staging host is delta'")[0];
    const older = sql(
      other.path,
      "SELECT id FROM memories WHERE agent_id = 'agent-a' AND content LIKE '%gamma%'",
    )[0];
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ from_key: Number(newer?.["id"]) * 2, to_key: Number(older?.["id"]) * 2 });
    expect(newer?.["id"]).toBe(4);
  });

  it("gives everything to a target agent", async () => {
    const { service } = await openTestMemory();
    await fill(service);
    const path = newPath();
    await exportTo(service, path);
    const other = await openTestMemory();
    // agent-b holds the same text as agent-a: one row is left of them.
    expect(await importFrom(other.service, path, { targetAgent: "both" })).toMatchObject({
      importedMemories: 4,
      skippedMemories: 1,
    });
    expect(sql(other.path, "SELECT DISTINCT agent_id FROM memories")).toEqual([{ agent_id: "both" }]);
  });

  it("says what it would do, and does it not", async () => {
    const { service } = await openTestMemory();
    await fill(service);
    const path = newPath();
    await exportTo(service, path);
    const other = await openTestMemory();
    const dry = await importFrom(other.service, path, { dryRun: true });
    expect(sql(other.path, "SELECT count(*) AS n FROM memories")[0]).toEqual({ n: 0 });
    const { dryRun: _, ...wet } = await importFrom(other.service, path);
    expect(dry).toMatchObject({ ...wet, dryRun: true });
  });

  it("leaves the store as it was for every file that is cut or damaged", async () => {
    const { service } = await openTestMemory();
    await fill(service);
    const whole = await exportTo(service, newPath());
    const other = await openTestMemory();
    const path = newPath();
    const bytes = Buffer.from(whole);
    const cuts = Array.from({ length: 40 }, (_, i) => Math.floor((bytes.length * i) / 40));
    for (const cut of [...cuts, bytes.length - 2]) {
      writeFileSync(path, bytes.subarray(0, cut));
      await expect(importFrom(other.service, path), `cut at ${cut}`).rejects.toMatchObject({
        code: "damaged_file",
        message: expect.stringMatching(/^import aborted/),
      });
    }
    const damages = [
      bytes.toString("utf8").replace("{", "{{"),
      bytes.toString("utf8").replace("gamma", "\n"),
      `${whole}[1]\n`,
      `${whole}${whole}`,
    ];
    for (const text of damages) {
      writeFileSync(path, text);
      await expect(importFrom(other.service, path)).rejects.toMatchObject({ code: "damaged_file" });
    }
    const broken = Buffer.from(bytes);
    broken[broken.indexOf("gamma")] = 0xff;
    writeFileSync(path, broken);
    await expect(importFrom(other.service, path)).rejects.toThrow("is not UTF-8");
    expect(sql(other.path, "SELECT count(*) AS n FROM memories")[0]).toEqual({ n: 0 });
    expect(sql(other.path, "SELECT count(*) AS n FROM profiles")[0]).toEqual({ n: 0 });
  });

  it("refuses a record that breaks a rule, and takes the rest", async () => {
    const { service, path } = await openTestMemory();
    const outcome = await importFrom(
      service,
      writeFile([
        memoryRecord("kept"),
        memoryRecord("", {}),
        memoryRecord("a", { content: 5 }),
        memoryRecord("b", { agent_id: "" }),
        memoryRecord("c", { metadata: { long: "x".repeat(9000) } }),
        memoryRecord("d", { msg_id: "x".repeat(257) }),
        memoryRecord("half an emoji \ud83d"),
        memoryRecord("e", { source: [1] }),
        memoryRecord("f", { kind: "wish" }),
        memoryRecord("g", { metadata: null, source: null, timestamp: null, channel: null }),
        { _type: "profile", agent_id: "agent-a", content: "one" },
        { _type: "profile", agent_id: "agent-a", content: "two" },
      ]),
    );
    expect(outcome).toMatchObject({ importedMemories: 2, updatedProfiles: 1 });
    expect(outcome.errors).toHaveLength(9);
    expect(outcome.errors[0]).toBe("Line 3: refused: content must not be empty");
    expect(outcome.errors[8]).toMatch(/^Line 13: refused: a second profile/);
    expect(sql(path, "SELECT content FROM memories ORDER BY id")).toEqual([
      { content: "kept" },
      { content: "g" },
    ]);
  });

  it("lists a hundred refusals at most", async () => {
    const { service } = await openTestMemory();
    const bad = Array.from({ length: 130 }, () => memoryRecord(""));
    const { errors } = await importFrom(service, writeFile(bad));
    expect(errors).toHaveLength(101);
    expect(errors[100]).toBe("30 more errors were not listed");
  });

  it("keeps the newer of two profiles", async () => {
    const { service } = await openTestMemory();
    const profile = (content: string, updatedAt: string): string =>
      writeFile([{ _type: "profile", agent_id: "agent-a", content, updated_at: updatedAt }]);
    await importFrom(service, profile("second", "2026-02-02 00:00:00"));
    expect(await importFrom(service, profile("first", "2026-01-01 00:00:00"))).toMatchObject({
      updatedProfiles: 0,
      skippedProfiles: 1,
    });
    expect(service.getProfile({ agentId: "agent-a" })).toBe("second");
    await importFrom(service, profile("third", "2026-03-03 00:00:00"));
    expect(service.getProfile({ agentId: "agent-a" })).toBe("third");
  });

  it("uses vectors of the same embedder whatever they are called, and no others", async () => {
    const { service } = await openTestMemory(STATIC);
    await service.store({ agentId: "agent-a", content: "the staging host is gamma" });
    const text = await exportTo(service, newPath());
    const record = JSON.parse(text.split("\n")[1] as string);
    const unnamed = { ...record, embedding_model: "" };
    const foreign = {
      ...record,
      embedding_b64: Buffer.from(new Float32Array(384).fill(0.05).buffer).toString("base64"),
    };
    const broken = { ...record, embedding_b64: "AAAA" };
    for (const [given, kept, dropped, errors] of [
      [record, 1, 0, 0],
      [unnamed, 1, 0, 0],
      [{ ...foreign, embedding_model: "somebody" }, 0, 1, 0],
      [{ ...record, embedding_model: "somebody", embedding_b64: "AACAPwAAgD8=" }, 0, 1, 0],
      [broken, 0, 0, 1],
    ] as const) {
      const other = await openTestMemory(STATIC);
      const outcome = await importFrom(other.service, writeFile([given]));
      expect(outcome.vectors).toEqual({ kept, dropped });
      expect(outcome.errors).toHaveLength(errors);
      expect(outcome.importedMemories).toBe(1);
    }
  });

  it("takes declared relations of kinds that it knows, and names the rest", async () => {
    const { service, path } = await openTestMemory();
    const relation = (predicate: string, more: object = {}): object => ({
      _type: "relation",
      ...{ subject_kind: "mem", subject_id: 7, predicate, object_kind: "mem", object_id: 9, ...more },
    });
    const outcome = await importFrom(
      service,
      writeFile([
        memoryRecord("first", { id: 7 }),
        memoryRecord("second", { id: 9 }),
        { _type: "entity", id: 1, name: "Postgres" },
        relation("supports"),
        relation("Derived From"),
        relation("maintains"),
        relation("supports", { subject_kind: "entity" }),
        relation("supports", { object_id: 999 }),
        { _type: "dream" },
      ]),
    );
    expect(outcome).toMatchObject({
      relations: 2,
      associations: { entities: 1, mentions: 0, relations: 5 },
      leftOut: {
        entities: 1,
        "relations: maintains": 1,
        "relations: between entities": 1,
        "relations to records that are not in the file": 1,
        "records: dream": 1,
      },
    });
    expect(sql(path, "SELECT from_key, to_key, type FROM relations ORDER BY type")).toEqual([
      { from_key: 14, to_key: 18, type: "derived_from" },
      { from_key: 14, to_key: 18, type: "supports" },
    ]);
  });

  it("tells how far it is", async () => {
    const { service } = await openTestMemory();
    const records = Array.from({ length: 450 }, (_, i) => memoryRecord(`note ${i}`));
    const seen: [number, number][] = [];
    await importFrom(service, writeFile(records), {
      progress: (done: number, total: number) => seen.push([done, total]),
    });
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.at(-1)).toEqual([450, 450]);
    expect(seen.map(([done]) => done)).toEqual([...seen.map(([done]) => done)].sort((a, b) => a - b));
  });

  it("refuses what is no file, too large or missing", async () => {
    const { service } = await openTestMemory({ settings: { CPERSONA_MAX_IMPORT_BYTES: "100" } });
    await expect(importFrom(service, newPath())).rejects.toThrow("File not found");
    await expect(importFrom(service, tempFolder())).rejects.toThrow("must name a regular file");
    await expect(importFrom(service, writeFile([memoryRecord("x".repeat(200))]))).rejects.toThrow(
      "must have at most 100 bytes",
    );
  });

  it("takes itself back when the store cannot be written", async () => {
    const { service, path } = await openTestMemory();
    await service.store({ agentId: "agent-a", content: "held" });
    sql(
      path,
      "CREATE TRIGGER full BEFORE INSERT ON memories WHEN NEW.content = 'note 300' BEGIN SELECT RAISE(ABORT, 'disk full'); END",
    );
    const records = Array.from({ length: 450 }, (_, i) => memoryRecord(`note ${i}`));
    await expect(importFrom(service, writeFile(records))).rejects.toThrow("import aborted and rolled back");
    expect(sql(path, "SELECT content FROM memories")).toEqual([{ content: "held" }]);
  });
});

describe("hostile records", () => {
  const deep = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  const written = (lines: readonly string[]): string => {
    const path = newPath("hostile.jsonl");
    writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
    return path;
  };
  const header = (counts: object): string =>
    JSON.stringify({ _type: "header", version: "cpersona-export/1.1", ...counts });
  const good = (content: string): string => JSON.stringify(memoryRecord(content));

  it("with a number that counts nothing, or nested too deep, are refused one by one; the others come in", async () => {
    const { service } = await openTestMemory();
    const bad = ([field = "", value = ""]: readonly string[], i: number): string =>
      `{"_type":"memory","id":5,"agent_id":"agent-a","project_id":"","content":"bad ${i}","${field}":${value}}`;
    const lines = [
      ["recall_count", "1e308"],
      ["recall_count", "2.5"],
      ["recall_count", "-1"],
      ["use_weight", "1e308"],
      ["metadata", deep(20_000)],
      ["source", deep(20_000)],
      ["used_with", '[{"ref":"mem:9","weight":1e308}]'],
      ["used_with", '[{"ref":"mem:9","weight":1,"moment":1e308}]'],
    ].map(bad);
    const counts = { memory_count: lines.length + 2 };
    const path = written([header(counts), good("first"), ...lines, good("last")]);
    for (const dryRun of [true, false]) {
      const outcome = await importFrom(service, path, { dryRun });
      expect(outcome).toMatchObject({ importedMemories: 2, skippedMemories: 0 });
      expect(outcome.errors).toHaveLength(lines.length);
      for (const [i, error] of outcome.errors.entries())
        expect(error).toMatch(new RegExp(`^Line ${i + 3}: refused: `));
      expect(outcome.errors[0]).toContain("recall_count must be a whole number");
      expect(outcome.errors[4]).toContain("nested more than");
    }
    expect(service.listMemories({ agentId: "agent-a" })).toHaveLength(2);
  });

  it("of any shape in any field never end an import or lose its other rows", async () => {
    const { service } = await openTestMemory(STATIC);
    const values = [
      "1e308",
      "-1e308",
      "2.5",
      "-1",
      "9007199254740993",
      "true",
      "null",
      '""',
      '"x"',
      "[]",
      "[1]",
      "[[]]",
      "{}",
    ].concat(['{"a":null}', '[{"ref":"mem:1"}]', '[[0,1e308,"AAAA"]]', '"\\ud800"', '"\\u0000"', deep(200)]);
    const fields: Record<string, readonly string[]> = {
      memory:
        "id agent_id msg_id content source source_text timestamp metadata metadata_text created_at project_id channel locked recall_count last_recalled_at use_weight kind tags relations used_with embedding embedding_b64 embedding_blocks embedding_model".split(
          " ",
        ),
      episode:
        "id agent_id summary keywords start_time end_time created_at resolved project_id channel recall_count use_weight relations used_with embedding embedding_b64".split(
          " ",
        ),
      profile: "agent_id user_id content updated_at".split(" "),
      relation: "subject_kind subject_id object_kind object_id predicate declared_at".split(" "),
    };
    const lines: string[] = [];
    for (const [type, names] of Object.entries(fields))
      for (const name of names)
        for (const value of values) {
          const base = {
            _type: type,
            agent_id: "agent-a",
            content: `row ${lines.length}`,
            summary: `row ${lines.length}`,
          };
          lines.push(`${JSON.stringify(base).slice(0, -1)},${JSON.stringify(name)}:${value}}`);
          if (lines.length % 50 === 0) lines.push(good(`good ${lines.length}`));
        }
    const outcome = await importFrom(service, written(lines));
    const kept = service.listMemories({ agentId: "agent-a", limit: 500 }).length;
    expect(kept).toBeGreaterThan(50);
    const goods = lines.filter((line) => line.includes('"good ')).length;
    const found = await service.recall({ agentId: "agent-a", query: "good", limit: 100 });
    expect(goods).toBeGreaterThan(10);
    expect(
      found.hits.filter(({ row }) => row.kind === "mem" && row.memory.content.startsWith("good ")),
    ).not.toEqual([]);
    expect(outcome.importedMemories).toBeGreaterThanOrEqual(goods);
  });
});

describe("an export of an unknown version", () => {
  it.each(["cpersona-export/999", "cpersona-export/2.0", "other-export/1.1", 7, ""])(
    "(%s) is named and refused, unless it is wanted",
    async (version) => {
      const { service } = await openTestMemory();
      const path = writeFile([memoryRecord("from the future")], { version });
      await expect(importFrom(service, path)).rejects.toMatchObject({
        code: "invalid_argument",
        message: expect.stringMatching(/unknown version \(.*\); nothing was imported.*--any-version/),
      });
      expect(service.listMemories({ agentId: "agent-a" })).toEqual([]);
      expect(await importFrom(service, path, { anyVersion: true })).toMatchObject({ importedMemories: 1 });
    },
  );

  it.each(["cpersona-export/1.0", "cpersona-export/1.1", "cpersona-export/1.2", undefined])(
    "is not one of the known ones (%s), or none at all",
    async (version) => {
      const { service } = await openTestMemory();
      expect(await importFrom(service, writeFile([memoryRecord("known")], { version }))).toMatchObject({
        importedMemories: 1,
      });
    },
  );
});

describe("the home folder", () => {
  it("is meant by ~ in paths of exports and imports, and another account's is refused", async () => {
    const home = tempFolder();
    vi.stubEnv("HOME", home);
    vi.stubEnv("USERPROFILE", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { service } = await openTestMemory();
    await service.store({ agentId: "agent-a", content: "at home" });
    for (const unconfined of [true, false]) {
      const request = { agentId: "", outputPath: "~/sub/out.jsonl", embeddings: false, unconfined };
      await service.maintenance.exportMemories(request);
      expect(readdirSync(join(home, "sub"))).toEqual(["out.jsonl"]);
      expect(await importFrom(service, "~/sub/out.jsonl", { unconfined })).toMatchObject({
        skippedMemories: 1,
      });
      const other = { ...request, outputPath: "~someone/out.jsonl" };
      await expect(service.maintenance.exportMemories(other)).rejects.toThrow(
        "output_path must not start with ~ and a name",
      );
      await expect(importFrom(service, "~someone/x", { unconfined })).rejects.toThrow(
        "input_path must not start with ~",
      );
    }
    expect(readdirSync(".").filter((name) => name.startsWith("~"))).toEqual([]);
  });
});
