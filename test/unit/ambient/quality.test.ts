// The quality tier's assertions, axis by axis, with the embedded default.

import { describe, expect, it } from "vitest";
import {
  heatMap,
  measureCorrection,
  measureGate,
  measureGolden,
  storeSmoke,
} from "../../../bench/quality/ambient-quality.mjs";
import { openTestMemory } from "../../support/memory.js";

const STATIC = { settings: { CPERSONA_EMBEDDING_MODE: "static" } };
const HOUR = 3_600_000;

describe("the golden corpus", () => {
  it.each([
    ["as it is", {}],
    ["with one heavy persona", { heavy: true }],
    ["an hour old", { ageMs: HOUR }],
    ["90 days old", { ageMs: 90 * 24 * HOUR }],
  ])("fills direct, persona and exclude axes: %s", async (_, options) => {
    const { service, clock } = await openTestMemory(STATIC);
    const rows = await measureGolden(service, { now: clock.now(), ...options });
    expect(
      rows.every(({ isRight }) => isRight),
      heatMap(rows),
    ).toBe(true);
  });

  it("shows a correction in the place of what it corrects", async () => {
    const { service } = await openTestMemory(STATIC);
    expect(await measureCorrection(service)).toMatchObject({
      first: expect.stringContaining("Tuesday"),
      showsOld: false,
      isMarked: true,
    });
  });
});

describe("the gate", () => {
  it.each([10, 100])("opens for what %i memories know, and for little else", async (rows) => {
    const { service } = await openTestMemory(STATIC);
    const gate = await measureGate(service, rows);
    expect(gate.first).toBeGreaterThanOrEqual(gate.answered * 0.9);
    expect(gate.precision).toBeGreaterThan(0.85);
    expect(gate.unanswered).toBeLessThanOrEqual(1);
    expect(gate.smallTalk).toBe(0);
    expect(gate.connectedAlone).toBe(0);
    expect(gate.connected).toBe(gate.connectedOf);
  });
});

describe("test data", () => {
  it("that is not meant for people is refused without its tag", async () => {
    const { service } = await openTestMemory();
    await expect(storeSmoke(service, { content: "placeholder" })).rejects.toThrow("smoke-test");
    expect(await storeSmoke(service, { content: "placeholder", tags: ["smoke-test"] })).toMatchObject({
      result: "stored",
    });
  });
});
