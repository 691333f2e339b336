import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HEALTH_CHECKS } from "../../../ts/maintenance/health/check.js";
import { hasWalFix } from "../../../ts/maintenance/health/store-checks.js";
import type { MemoryService } from "../../../ts/service/memory-service.js";
import { openTestMemory } from "../../support/memory.js";
import { ROOT } from "../../support/root.js";
import { sql } from "../../support/store.js";
import { tempFolder } from "../../support/temp.js";

const QUIET = { CPERSONA_EMBEDDING_MODE: "static" };

function check(service: MemoryService, checks: string[] = [], fix = false, agentId = "") {
  return service.maintenance.checkHealth({ agentId, fix, checks });
}

async function withRows(settings: Record<string, string> = {}) {
  const memory = await openTestMemory({ settings });
  for (const content of ["the staging host is gamma", "the parser eats commas", "locked row"])
    await memory.service.store({ agentId: "agent-a", content });
  await memory.service.setLocked(3, true, { agentId: "agent-a" });
  await memory.service.archiveEpisode({ agentId: "agent-a", summary: "we shipped it" });
  await memory.service.updateProfile("Short answers.", { agentId: "agent-a" });
  return memory;
}

/** Damage, by the check that finds it; each hits an unlocked row and, where it can, the locked one. */
const DAMAGES: readonly [string, string[]][] = [
  ["schema_objects", ["DROP INDEX memories_age", "DROP TRIGGER scopes_memory_in"]],
  ["fts_integrity", ["DELETE FROM memory_terms WHERE rowid = 1"]],
  ["embedding_dimension", ["UPDATE embeddings SET vector = x'00' WHERE record_key = 2"]],
  [
    "nonfinite_embedding",
    ["UPDATE embeddings SET vector = CAST(x'0000c07f' || substr(vector, 5) AS BLOB) WHERE record_key = 2"],
  ],
  ["null_embedding", ["DELETE FROM embeddings WHERE record_key = 4"]],
  ["null_episode_embedding", ["DELETE FROM embeddings WHERE record_key = 3"]],
  [
    "embedding_model",
    [
      "INSERT INTO embedders (identity, dimension) VALUES ('old:model:1', 1)",
      "INSERT INTO embeddings (record_key, embedder, end_char, vector) SELECT 2, code, 1, x'00000000' FROM embedders WHERE identity = 'old:model:1'",
    ],
  ],
  ["derived_columns", ["UPDATE memories SET content_hash = zeroblob(31 + id) WHERE id IN (1, 3)"]],
  ["scope_counts", ["UPDATE scopes SET memories = 99"]],
  ["orphaned_rows", ["INSERT INTO uses (record_key) VALUES (4000)"]],
  ["empty_content", ["UPDATE memories SET content = ' ' WHERE id IN (1, 3)"]],
  [
    "oversized_content",
    ["UPDATE memories SET content = printf('%.*c', 20000, 'x') || id WHERE id IN (1, 3)"],
  ],
  ["oversized_profile", ["UPDATE profiles SET content = printf('%.*c', 3000, 'x')"]],
  [
    "memory_annotation",
    ["UPDATE memories SET content = '[Memory from today] ' || content WHERE id IN (1, 3)"],
  ],
  ["invalid_json", ["UPDATE memories SET source = 'oops', metadata = '[1', tags = '{}' WHERE id IN (1, 3)"]],
  [
    "invalid_source_type",
    [`UPDATE memories SET source = '{"type":"assistant","id":"a"}' WHERE id IN (1, 3)`],
  ],
  ["invalid_timestamp", ["UPDATE memories SET timestamp = 'someday', instant = NULL WHERE id IN (1, 3)"]],
  ["future_timestamp", ["UPDATE memories SET timestamp = '2099-01-01' WHERE id IN (1, 3)"]],
  ["future_episode_timestamp", ["UPDATE episodes SET start_time = '2099-01-01'"]],
];

describe("check_health", () => {
  it("finds nothing wrong with a new store", async () => {
    const { service } = await withRows(QUIET);
    const { status, issues, checksRun, stats } = await check(service);
    expect(status).toBe("healthy");
    expect(issues.filter(({ severity }) => severity !== "info")).toEqual([]);
    expect(checksRun).toEqual(HEALTH_CHECKS.map(({ name }) => name));
    expect(stats).toMatchObject({ counts: { memories: 3, episodes: 1, profiles: 1 }, pending: 0 });
  });

  it.each(DAMAGES)("finds and mends %s", async (name, damage) => {
    const { service, path } = await withRows(QUIET);
    sql(path, ...damage);
    const lockedBefore = sql(path, "SELECT * FROM memories WHERE id = 3");
    const found = await check(service, [name]);
    expect(found.issues.map((issue) => issue.check)).toEqual([name]);
    expect(found.repaired).toEqual({});
    const mended = await check(service, [name], true);
    expect(mended.repaired[name]).toBeGreaterThan(0);
    expect(mended.status).toBe("healthy");
    expect(sql(path, "SELECT * FROM memories WHERE id = 3")).toEqual(lockedBefore);
    // What is left lies in the locked row, and is for people to look at.
    const left = await check(service, [name]);
    for (const issue of left.issues)
      expect(issue).toMatchObject({ count: 1, repairable: 0, needsReview: true });
  });

  it("leaves rows of other agents alone", async () => {
    const { service, path } = await withRows();
    await service.store({ agentId: "agent-b", content: "another row" });
    sql(path, "UPDATE memories SET timestamp = 'someday' WHERE locked = 0");
    expect((await check(service, ["invalid_timestamp"], true, "agent-b")).repaired).toEqual({
      invalid_timestamp: 1,
    });
    expect(sql(path, "SELECT count(*) AS n FROM memories WHERE timestamp = 'someday'")[0]).toEqual({ n: 2 });
  });

  it("names checks that do not exist, and the ones that do", async () => {
    const { service } = await withRows();
    await expect(check(service, ["fts_integrity", "nope"])).rejects.toMatchObject({
      code: "invalid_argument",
      details: { unknown_checks: ["nope"], valid_checks: HEALTH_CHECKS.map(({ name }) => name) },
    });
  });

  it("deletes narrow copies of what a wider bucket holds", async () => {
    const { service, path } = await openTestMemory();
    await service.store({ agentId: "agent-a", projectId: "x", content: "same" });
    await service.store({ agentId: "agent-a", projectId: "y", content: "same" });
    await service.store({ agentId: "agent-a", projectId: "x", channel: "c", content: "other" });
    await service.store({ agentId: "agent-a", projectId: "", content: "same" });
    await service.setLocked(2, true, { agentId: "agent-a" });
    expect((await check(service, ["duplicate_content"], true)).repaired).toEqual({ duplicate_content: 1 });
    expect(sql(path, "SELECT id FROM memories ORDER BY id")).toEqual([{ id: 2 }, { id: 3 }, { id: 4 }]);
  });

  it("reports projects whose names differ only in spelling", async () => {
    const { service } = await openTestMemory();
    for (const projectId of ["My-App", "myapp", "ＭｙＡｐｐ", "other"])
      await service.store({ agentId: "agent-a", projectId, content: "note" });
    const { issues } = await check(service, ["axis_hygiene"]);
    expect(issues).toMatchObject([{ check: "axis_hygiene", count: 1 }]);
  });

  it.skipIf(process.platform === "win32")("closes files that others may open", async () => {
    const { service, path } = await withRows();
    chmodSync(path, 0o644);
    expect((await check(service, ["file_permissions"])).issues).toMatchObject([
      { severity: "warn", repairable: 1 },
    ]);
    await check(service, ["file_permissions"], true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.skipIf(process.platform === "win32")("closes the vector index and the hook's log too", async () => {
    const folder = tempFolder();
    const path = join(folder, "memory.db");
    const logFile = join(folder, "hook.log");
    const { service } = await openTestMemory({ path, settings: { ...QUIET, CPERSONA_AMBIENT_LOG: logFile } });
    await service.store({ agentId: "agent-a", content: "note" });
    const index = `${path}.vectors`;
    mkdirSync(join(index, "one"), { recursive: true });
    for (const file of [logFile, join(index, "one", "head")]) writeFileSync(file, "");
    for (const file of [index, join(index, "one"), join(index, "one", "head"), logFile])
      chmodSync(file, 0o777);
    symlinkSync(ROOT, join(index, "elsewhere"));
    const { issues, repaired } = await check(service, ["file_permissions"], true);
    expect(issues).toMatchObject([
      { severity: "warn", count: 4, repairable: 4, hint: expect.stringContaining("0600") },
    ]);
    expect(repaired).toEqual({ file_permissions: 4 });
    expect(statSync(index).mode & 0o777).toBe(0o700);
    expect(statSync(join(index, "one", "head")).mode & 0o777).toBe(0o600);
    expect((await check(service, ["file_permissions"])).issues).toEqual([]);
    expect(statSync(ROOT).mode & 0o077).not.toBe(0);
  });

  it("answers and mends where another program stored JSON that is nested too deep", async () => {
    const { service, path } = await withRows();
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    sql(path, `UPDATE memories SET metadata = '${deep}' WHERE id = 1`);
    const found = await service.recall({ agentId: "agent-a", query: "staging host" });
    expect(found.hits.some(({ row }) => row.kind === "mem" && row.memory.id === 1)).toBe(true);
    expect(JSON.stringify(found.hits)).toContain("gamma");
    const { issues, repaired } = await check(service, ["invalid_json"], true);
    expect(issues).toMatchObject([{ check: "invalid_json", count: 1 }]);
    expect(repaired).toEqual({ invalid_json: 1 });
  });

  it("knows which SQLite versions lose writes", () => {
    expect(
      ["3.51.3", "3.53.2", "3.50.7", "3.44.6", "4.0.0"].filter((version) => !hasWalFix(version)),
    ).toEqual([]);
    expect(["3.51.2", "3.50.6", "3.49.2", "3.40.1"].filter(hasWalFix)).toEqual([]);
  });
});

describe("deep_check", () => {
  it("looks at one agent's rows and deletes short ones on request", async () => {
    const { service, path } = await openTestMemory({ settings: QUIET });
    const texts = [
      "ok",
      "東京",
      "the staging host is gamma in production",
      "the staging host is gamma in production!",
      "か\u3099 comes in two",
    ];
    for (const content of texts) await service.store({ agentId: "agent-a", content });
    await service.store({ agentId: "agent-b", content: "no" });
    const { results } = await service.maintenance.deepCheck({ agentId: "agent-a", fix: false, checks: [] });
    expect(results).toMatchObject({
      short_content: { count: 1, samples: ["mem:1"] },
      near_duplicate: { count: 1, samples: [{ refs: ["mem:3", "mem:4"] }] },
      unnormalized_content: { count: 1, samples: ["mem:5"] },
      embedding_norm: { count: 0 },
      stale_profile: { count: 0 },
      calibration_staleness: { status: "not_calibrated" },
    });
    await service.maintenance.deepCheck({ agentId: "agent-a", fix: true, checks: ["short_content"] });
    expect(sql(path, "SELECT count(*) AS n FROM memories")[0]).toEqual({ n: 5 });
    await expect(
      service.maintenance.deepCheck({ agentId: "agent-a", fix: false, checks: ["x"] }),
    ).rejects.toThrow("unknown");
  });
});
