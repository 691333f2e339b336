// The episode penalty, read off the scores: what is left of a row's score once there is an episode.

import { afterAll, beforeAll, describe, expect } from "vitest";
import { startInProcess, type ToolCaller } from "../support/client.js";
import { type EmbedStub, startEmbedStub } from "../support/embed-stub.js";
import type { Settings } from "../support/settings.js";
import { ask, put } from "./calls.js";
import { ALONE, embeddedBy } from "./modes.js";
import { verifies } from "./verifies.js";

let stub: EmbedStub;
beforeAll(async () => {
  stub = await startEmbedStub();
});
afterAll(() => stub.close());

const TEXT = "the deploy key lives in the vault";
/** The fake clock's start: the created_at of every episode below. */
const BOUNDARY = Date.parse("2026-11-30T09:00:00Z");
const before = (hours: number): string => new Date(BOUNDARY - hours * 3_600_000).toISOString();

interface Case {
  readonly settings?: Settings;
  readonly memory?: object;
  readonly episode?: object;
  readonly query?: object;
}

/** The share of its score that the memory keeps when an episode is archived. */
async function shareKept({ settings = {}, memory = {}, episode = {}, query = {} }: Case): Promise<number> {
  const tools = await startInProcess({ settings: embeddedBy(stub, { ...ALONE, ...settings }) });
  await put(tools, TEXT, { timestamp: before(1000), ...memory });
  const alone = await scoreOf(tools, query);
  await archive(tools, episode);
  return (await scoreOf(tools, query)) / alone;
}

async function archive(tools: ToolCaller, more: object = {}): Promise<void> {
  const summary = "a gardening afternoon";
  const answer = await tools.call("archive_episode", { agent_id: "agent-a", summary, history: [], ...more });
  expect(answer).toMatchObject({ ok: true });
}

async function scoreOf(tools: ToolCaller, query: object): Promise<number> {
  const row = (await ask(tools, TEXT, query)).find(({ content }) => content === TEXT);
  return row?.["match_reason"].rrf as number;
}

describe("the settings", () => {
  for (const [hours, share] of [
    [1, 0.99],
    [10, 0.9048],
    [69, 0.5016],
    [70, 0.5],
    [5000, 0.5],
  ] as const)
    verifies("penalty.old-rows-sink", `${hours} hours before the boundary`, async () => {
      expect(await shareKept({ memory: { timestamp: before(hours) } })).toBeCloseTo(share, 4);
    });

  verifies("penalty.switch", "the scores of old rows stay", async () => {
    expect(await shareKept({ settings: { CPERSONA_EPISODE_PENALTY_ENABLED: "false" } })).toBe(1);
  });

  for (const [rate, hours, share] of [
    ["0.002", 100, 0.8187],
    ["0.002", 336, 0.5107],
    ["0.1", 1, 0.9048],
    ["0", 1000, 1],
  ] as const)
    verifies("penalty.rate", `${rate}, ${hours} hours`, async () => {
      const settings = { CPERSONA_EPISODE_DECAY_RATE: rate };
      expect(await shareKept({ settings, memory: { timestamp: before(hours) } })).toBeCloseTo(share, 4);
    });

  for (const [floor, share] of [
    ["0.9", 0.9],
    ["0.1", 0.1353],
    ["1", 1],
  ] as const)
    verifies("penalty.floor", floor, async () => {
      const settings = { CPERSONA_EPISODE_DECAY_FLOOR: floor };
      expect(await shareKept({ settings, memory: { timestamp: before(200) } })).toBeCloseTo(share, 4);
    });
});

describe("the boundary", () => {
  for (const [name, timestamp] of [
    ["at the moment", before(0)],
    ["at the moment, in another offset", "2026-11-30T18:00:00+09:00"],
    ["at the moment, without an offset", "2026-11-30T09:00:00"],
    ["a second later", "2026-11-30T09:00:01Z"],
  ] as const)
    verifies("penalty.boundary", name, async () => {
      expect(await shareKept({ memory: { timestamp } })).toBe(1);
    });

  verifies("penalty.boundary", "a second earlier", async () => {
    const share = await shareKept({ memory: { timestamp: "2026-11-30T08:59:59Z" } });
    expect(share).toBeLessThan(1);
    expect(share).toBeCloseTo(1, 4);
  });

  verifies("penalty.boundary", "the newest of several episodes, by its archiving", async () => {
    const tools = await startInProcess({ settings: embeddedBy(stub, ALONE) });
    await put(tools, TEXT, { timestamp: before(0) });
    const alone = await scoreOf(tools, {});
    await archive(tools);
    expect(await scoreOf(tools, {})).toBe(alone);
    tools.clock.advance(10 * 3_600_000);
    // What is archived late sets the boundary, however old the conversation is.
    const history = [{ role: "user", content: "tulips", timestamp: "2020-01-01T00:00:00Z" }];
    await archive(tools, { summary: "an old conversation", history });
    expect((await scoreOf(tools, {})) / alone).toBeCloseTo(0.9048, 4);
  });

  verifies("penalty.undated-is-exempt", async () => {
    expect(await shareKept({ memory: { timestamp: "some day in spring" } })).toBe(1);
  });

  verifies("penalty.needs-an-episode", "a deleted episode", async () => {
    const tools = await startInProcess({ settings: embeddedBy(stub, ALONE) });
    await put(tools, TEXT, { timestamp: before(1000) });
    const alone = await scoreOf(tools, {});
    await archive(tools);
    expect((await scoreOf(tools, {})) / alone).toBeCloseTo(0.5, 6);
    const answer = await tools.call("delete_episode", { agent_id: "agent-a", episode_id: 1 });
    expect(answer).toMatchObject({ ok: true });
    expect(await scoreOf(tools, {})).toBe(alone);
  });
});

describe("the scope of the boundary", () => {
  const mine = { project_id: "mine" };
  const cases: readonly (readonly [string, Case, number])[] = [
    ["another project", { memory: mine, episode: { project_id: "other" }, query: mine }, 1],
    ["the same project", { memory: mine, episode: mine, query: mine }, 0.5],
    ["the global pool, seen from a project", { memory: mine, query: mine }, 0.5],
    ["a project, seen from the global pool", { episode: mine, query: { project_id: "" } }, 1],
    ["a project, seen by all", { episode: mine }, 0.5],
    ["another channel", { episode: { channel: "c2" }, query: { channel: "c1" } }, 1],
    ["the same channel", { episode: { channel: "c1" }, query: { channel: "c1" } }, 0.5],
    ["the shared channel, seen from a channel", { query: { channel: "c1" } }, 0.5],
    ["another agent", { episode: { agent_id: "agent-b" } }, 1],
  ];
  for (const [name, scope, share] of cases)
    verifies("penalty.scope", name, async () => {
      expect(await shareKept(scope)).toBeCloseTo(share, 6);
    });
});
