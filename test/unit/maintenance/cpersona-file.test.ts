import { existsSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openTestMemory } from "../../support/memory.js";
import { sql } from "../../support/store.js";
import { importFrom, newPath } from "./support.js";

/** The tables of CPersona's schemas 13 and 21 as far as records go; 21 has more columns and the graph. */
function cpersonaDatabase(schema: number): string {
  const path = newPath("cpersona.db");
  const label = schema >= 18 ? ", embedding_model TEXT NOT NULL DEFAULT ''" : "";
  sql(
    path,
    "PRAGMA journal_mode = WAL",
    "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TEXT)",
    `INSERT INTO schema_version VALUES (${schema}, '')`,
    `CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, project_id TEXT NOT NULL DEFAULT '',
       msg_id TEXT NOT NULL DEFAULT '', content TEXT NOT NULL, source TEXT NOT NULL DEFAULT '{}', timestamp TEXT NOT NULL,
       metadata TEXT NOT NULL DEFAULT '{}', embedding BLOB, channel TEXT NOT NULL DEFAULT '', recall_count INTEGER NOT NULL DEFAULT 0,
       last_recalled_at TEXT, locked INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL${label})`,
    `CREATE TABLE episodes (id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, project_id TEXT NOT NULL DEFAULT '',
       summary TEXT NOT NULL, keywords TEXT NOT NULL DEFAULT '', embedding BLOB, start_time TEXT, end_time TEXT,
       resolved INTEGER NOT NULL DEFAULT 0, channel TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL${label})`,
    `CREATE TABLE profiles (id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, project_id TEXT NOT NULL DEFAULT '',
       user_id TEXT NOT NULL DEFAULT '', content TEXT NOT NULL, updated_at TEXT NOT NULL)`,
    `INSERT INTO memories (id, agent_id, project_id, msg_id, content, source, timestamp, metadata, channel, recall_count, last_recalled_at, locked, created_at)
       VALUES (5, 'a1', 'X', 'm5', 'the staging host is gamma', '{"type":"User","id":"u1","name":"Kei"}', 'someday', '{"k":[1,null]}', 'chat', 3, '2026-01-02 03:04:05', 1, '2026-01-01 00:00:00'),
              (9, 'a1', '', '', 'an old source', 'old text', '2026-01-01T00:00:00Z', '{}', '', 0, NULL, 0, '2026-01-01 00:00:01')`,
    `INSERT INTO episodes (agent_id, summary, keywords, start_time, resolved, created_at) VALUES ('a1', 'we shipped', 'ship', '2026-01-01T00:00:00Z', 1, '2026-01-01 00:00:02')`,
    "INSERT INTO profiles (agent_id, content, updated_at) VALUES ('a1', 'Short answers.', '2026-01-01 00:00:03')",
  );
  if (schema < 15) return path;
  sql(
    path,
    `CREATE TABLE relations (id INTEGER PRIMARY KEY, agent_id TEXT, project_id TEXT, channel TEXT, subject_kind TEXT, subject_id INTEGER,
       predicate TEXT, object_kind TEXT, object_id INTEGER, anchor_ref TEXT, declared_by TEXT, declared_at TEXT)`,
    "CREATE TABLE entity_mentions (entity_id INTEGER, ref TEXT, declared_by TEXT, created_at TEXT, PRIMARY KEY (entity_id, ref))",
    "CREATE TABLE folder_members (ref TEXT PRIMARY KEY, folder_id INTEGER, declared_by TEXT, declared_at TEXT)",
    "INSERT INTO relations VALUES (1, 'a1', '', '', 'mem', 9, 'supports', 'ep', 1, '', 'agent', '2026-01-01T00:00:00.5+00:00')",
    "INSERT INTO entity_mentions VALUES (1, 'mem:5', 'agent', '')",
    "INSERT INTO folder_members VALUES ('mem:5', 1, 'agent', '')",
  );
  return path;
}

describe("a database of CPersona", () => {
  it.each([13, 17, 21])("of schema %i comes in with all its fields and is left as it is", async (schema) => {
    const { service, path } = await openTestMemory();
    const file = cpersonaDatabase(schema);
    const outcome = await importFrom(service, file);
    expect(outcome).toMatchObject({
      importedMemories: 2,
      importedEpisodes: 1,
      updatedProfiles: 1,
      errors: [],
    });
    expect(existsSync(`${file}-wal`)).toBe(false);
    const [first, second] = sql(path, "SELECT * FROM memories ORDER BY id");
    expect(first).toMatchObject({
      id: 5,
      agent_id: "a1",
      project_id: "X",
      channel: "chat",
      msg_id: "m5",
      source: '{"type":"User","id":"u1","name":"Kei"}',
      timestamp: "someday",
      metadata: '{"k":[1,null]}',
      locked: 1,
      created_at: "2026-01-01 00:00:00",
    });
    expect(second).toMatchObject({ id: 9, source: '"old text"' });
    expect(sql(path, "SELECT recall_count, last_recalled_at FROM uses")).toEqual([
      { recall_count: 3, last_recalled_at: "2026-01-02 03:04:05" },
    ]);
    expect(sql(path, "SELECT * FROM episodes")[0]).toMatchObject({
      keywords: "ship",
      resolved: 1,
      end_time: null,
    });
    expect(service.getProfile({ agentId: "a1" })).toBe("Short answers.");
    if (schema < 15) return;
    expect(sql(path, "SELECT from_key, to_key, type, created_at FROM relations")).toEqual([
      { from_key: 18, to_key: 3, type: "supports", created_at: "2026-01-01 00:00:00" },
    ]);
    expect(outcome.leftOut).toEqual({ mentions: 1, folder_members: 1 });
  });

  it("of an unknown schema, of ours, of others or damaged is refused", async () => {
    const { service, path } = await openTestMemory();
    const other = await openTestMemory();
    await expect(importFrom(service, cpersonaDatabase(22))).rejects.toThrow("schema 22, schemas 13 to 21");
    await expect(importFrom(service, cpersonaDatabase(12))).rejects.toThrow("schema 12, schemas 13 to 21");
    await expect(importFrom(service, other.path)).rejects.toThrow("this is a database of cpersona-native");
    const foreign = newPath("other.db");
    sql(foreign, "CREATE TABLE notes (id INTEGER)");
    await expect(importFrom(service, foreign)).rejects.toThrow("this is no database of CPersona");
    const damaged = newPath("damaged.db");
    writeFileSync(damaged, `SQLite format 3\0${"x".repeat(5000)}`);
    await expect(importFrom(service, damaged)).rejects.toMatchObject({ code: "damaged_file" });
    expect(sql(path, "SELECT count(*) AS n FROM memories")[0]).toEqual({ n: 0 });
  });
});
