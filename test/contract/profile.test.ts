// When the profile row comes along, where it stands, and that a lock moves nothing.

import { describe, expect } from "vitest";
import { type Answer, startInProcess, type ToolCaller } from "../support/client.js";
import type { Settings } from "../support/settings.js";
import { ask, put, texts } from "./calls.js";
import { CONFIDENT } from "./modes.js";
import { verifies } from "./verifies.js";

const PROFILE = "[Profile] likes green tea";

async function withProfile(rows: number, settings: Settings = {}, more: object = {}): Promise<ToolCaller> {
  const tools = await startInProcess({ settings });
  const answer = await tools.call("update_profile", { agent_id: "agent-a", profile: "likes green tea" });
  expect(answer).toMatchObject({ ok: true });
  for (let i = 0; i < rows; i++) await put(tools, `tulip bed number ${i}`, more);
  return tools;
}

const archive = (tools: ToolCaller): Promise<Answer> =>
  tools.call("archive_episode", { agent_id: "agent-a", summary: "a rainy walk", history: [] });

describe("the profile row", () => {
  for (const [name, settings] of [
    ["confidence off", {}],
    ["confidence on", CONFIDENT],
  ] as const) {
    verifies("profile.from-50-rows", `${name}, 49 and 50`, async () => {
      const tools = await withProfile(49, settings);
      for (const query of ["tulip", "xylophone", ""])
        expect([query, await texts(tools, query, { limit: 100 })]).toEqual([
          query,
          expect.not.arrayContaining([PROFILE]),
        ]);
      await put(tools, "the fiftieth");
      for (const query of ["tulip", "xylophone", ""])
        expect([query, await texts(tools, query, { limit: 100 })]).toEqual([
          query,
          expect.arrayContaining([PROFILE]),
        ]);
    });

    verifies("profile.from-50-rows", `${name}, an episode counts`, async () => {
      const tools = await withProfile(49, settings);
      expect(await archive(tools)).toMatchObject({ ok: true });
      expect(await texts(tools, "tulip", { limit: 100 })).toContain(PROFILE);
    });

    verifies("profile.from-50-rows", `${name}, in the scope of the query`, async () => {
      const tools = await withProfile(49, settings, { project_id: "mine" });
      await put(tools, "a row elsewhere", { project_id: "other" });
      const found = (project: string) => texts(tools, "tulip", { limit: 100, project_id: project });
      expect(await found("mine")).not.toContain(PROFILE);
      expect(await texts(tools, "tulip", { limit: 100 })).toContain(PROFILE);
      await put(tools, "a row of the pool");
      expect(await found("mine")).toContain(PROFILE);
    });

    verifies("recall.limit", `0, with a profile, ${name}`, async () => {
      const tools = await withProfile(50, settings);
      for (const query of ["tulip", ""]) expect(await texts(tools, query, { limit: 0 })).toEqual([]);
    });
  }

  // Behind in rank is in front in the answer: the best row is the last.
  verifies("profile.unscored-last", "the first row of the answer, without a reason", async () => {
    const tools = await withProfile(50);
    const rows = await ask(tools, "tulip", { limit: 100 });
    expect(rows).toHaveLength(51);
    expect(rows[0]).toEqual({ content: PROFILE, source: { System: "profile" } });
    expect(await texts(tools, "tulip", { limit: 50 })).not.toContain(PROFILE);
    expect(await texts(tools, "tulip", { limit: 51 })).toContain(PROFILE);
  });

  verifies("signal.only-on-scored-rows", "the profile, confidence off", async () => {
    const rows = await ask(await withProfile(50), "tulip", { limit: 100 });
    const reasons = rows.map((row) => ["match_reason" in row, "confidence" in row]);
    expect(reasons[0]).toEqual([false, false]);
    expect(reasons.slice(1)).toEqual(Array.from({ length: 50 }, () => [true, false]));
  });

  verifies("profile.scored-with-confidence", "with a reason, and among the best of old rows", async () => {
    const tools = await withProfile(60, CONFIDENT, { timestamp: "2026-01-01T00:00:00Z" });
    // A profile counts as half as old as the store, so younger than these rows once there is a new one.
    await put(tools, "rain today");
    const rows = await ask(tools, "tulip", { limit: 3 });
    const profile = rows.find(({ content }) => content === PROFILE);
    expect(profile).toMatchObject({ match_reason: { signal: "confidence" } });
    expect(profile?.["match_reason"].score).toBe(profile?.["confidence"].score);
    expect(rows.at(-1)).toBe(profile);
  });

  for (const [name, settings] of [
    ["confidence off", {}],
    ["confidence on", CONFIDENT],
  ] as const)
    verifies("profile.empty-query", name, async () => {
      const tools = await withProfile(60, settings);
      expect(await texts(tools, "", { limit: 5 })).toEqual([
        ...[56, 57, 58, 59].map((i) => `tulip bed number ${i}`),
        PROFILE,
      ]);
      expect(await texts(tools, "", { limit: 1 })).toEqual([PROFILE]);
    });

  verifies("profile.never-excluded", async () => {
    for (const settings of [{}, CONFIDENT]) {
      const tools = await withProfile(50, settings);
      const more = { limit: 100, exclude_contents: [PROFILE, "likes green tea"] };
      expect(await texts(tools, "tulip", more)).toContain(PROFILE);
    }
  });

  verifies("profile.one-row", "another agent's is not shown", async () => {
    const tools = await withProfile(50);
    await tools.call("update_profile", { agent_id: "agent-b", profile: "prefers coffee" });
    await tools.call("update_profile", { agent_id: "agent-a", profile: "likes black tea" });
    const found = await texts(tools, "tulip", { limit: 100 });
    expect(found.filter((text) => text.startsWith("[Profile]"))).toEqual(["[Profile] likes black tea"]);
  });
});

describe("a lock", () => {
  for (const [name, settings] of [
    ["rrf", {}],
    ["rsf", { CPERSONA_RECALL_MODE: "rsf" }],
    ["cascade", { CPERSONA_RECALL_MODE: "cascade" }],
  ] as const)
    verifies("lock.does-not-rank", name, async () => {
      const tools = await startInProcess({ settings });
      const weak = await put(tools, "red paint on the wall");
      await put(tools, "red bicycle in the garage");
      await put(tools, "bicycle chain");
      const before = await ask(tools, "red bicycle");
      const lock = await tools.call("lock_memory", { agent_id: "agent-a", memory_id: weak });
      expect(lock).toMatchObject({ ok: true });
      expect(await ask(tools, "red bicycle")).toEqual(before);
      expect((await texts(tools, "red bicycle", { limit: 1 }))[0]).toBe("red bicycle in the garage");
    });
});
