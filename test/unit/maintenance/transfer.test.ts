import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
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
