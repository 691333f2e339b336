import { describe, expect, it } from "vitest";
import { openTestMemory } from "../../support/memory.js";
import { sql } from "../../support/store.js";
import { fill } from "./support.js";

const STATIC = { settings: { CPERSONA_EMBEDDING_MODE: "static" } };

function merge(service: Awaited<ReturnType<typeof openTestMemory>>["service"], more: object = {}) {
  return service.maintenance.mergeMemories({
    sourceAgent: "agent-a",
    targetAgent: "agent-b",
    mode: "copy",
    dryRun: false,
    ...more,
  });
}

describe("merging", () => {
  it("copies what the target does not hold, with vectors, locks and relations", async () => {
    const { service, path } = await openTestMemory(STATIC);
    await fill(service);
    const dry = await merge(service, { dryRun: true });
    const wet = await merge(service);
    expect(wet).toMatchObject({
      mergedMemories: 3,
      skippedMemories: 1,
      mergedEpisodes: 2,
      profileCopied: true,
      relations: 1,
      moved: null,
    });
    expect(dry).toEqual(wet);
    expect(sql(path, "SELECT count(*) AS n FROM memories WHERE agent_id = 'agent-a'")[0]).toEqual({ n: 4 });
    expect(service.maintenance.queueStatus().pending).toBe(0);
    // The relation's other end is the copy that agent-b held already.
    const held = sql(
      path,
      "SELECT id FROM memories WHERE agent_id = 'agent-b' AND content LIKE '%gamma%'",
    )[0];
    const key = Number(held?.["id"]) * 2;
    expect(sql(path, `SELECT type FROM relations WHERE to_key = ${key}`)).toEqual([{ type: "supersedes" }]);
    expect(await merge(service)).toMatchObject({
      mergedMemories: 0,
      skippedMemories: 4,
      skippedProfile: true,
      relations: 0,
    });
  });

  it("moves and keeps ids, and leaves at the source what the target holds", async () => {
    const { service, path } = await openTestMemory(STATIC);
    await fill(service);
    const before = sql(
      path,
      "SELECT id, content, locked FROM memories WHERE content NOT LIKE '%gamma%' ORDER BY id",
    );
    expect(await merge(service, { mode: "move" })).toMatchObject({
      mergedMemories: 3,
      moved: { memories: 3, episodes: 2, profiles: 1 },
      left: { memories: 1, episodes: 0, profiles: 0 },
    });
    const after = sql(
      path,
      "SELECT id, content, locked FROM memories WHERE agent_id = 'agent-b' AND content NOT LIKE '%gamma%' ORDER BY id",
    );
    expect(after).toEqual(before);
    expect(sql(path, "SELECT count(*) AS n FROM memories WHERE agent_id = 'agent-a'")[0]).toEqual({ n: 1 });
    expect(service.getProfile({ agentId: "agent-a" })).toBe("");
    const found = await service.recall({ agentId: "agent-b", query: "staging host delta" });
    expect(found.hits.length).toBeGreaterThan(0);
    expect(
      (await service.maintenance.checkHealth({ agentId: "", fix: false, checks: [] })).summary.warn,
    ).toBe(0);
  });

  it("wants two agents, spelled out", async () => {
    const { service } = await openTestMemory();
    for (const more of [{ sourceAgent: "" }, { targetAgent: "" }, { targetAgent: "agent-a" }])
      await expect(merge(service, more)).rejects.toThrow(/must/);
    expect(await merge(service, { sourceAgent: "nobody" })).toMatchObject({ mergedMemories: 0 });
  });
});
