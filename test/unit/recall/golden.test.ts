// Values that the reference system gave for the same formulas.

import { describe, expect, it } from "vitest";
import { readConfig } from "../../../ts/config.js";
import { confidence } from "../../../ts/recall/confidence.js";
import { penaltyFactor } from "../../../ts/recall/episode-penalty.js";

const HOUR = 3_600_000;
const { recall } = readConfig({});

describe("the episode penalty", () => {
  it.each([
    [0, 1],
    [1, 0.99],
    [10, 0.9048],
    [69.3, 0.5001],
    [100, 0.5],
    [1000, 0.5],
    [-5, 1],
  ])("is, %d hours before the boundary, %d", (hours, factor) => {
    expect(penaltyFactor(-hours * HOUR, 0, recall.episodePenalty)).toBeCloseTo(factor, 3);
  });
});

describe("confidence", () => {
  interface Case {
    cosine: number | null;
    ageHours: number | null;
    spanHours?: number;
    resolved?: boolean;
    uses?: number;
    lastUseHours?: number;
  }
  const cases: [Case, number][] = [
    [{ cosine: 0.5, ageHours: 0 }, 0.7385],
    [{ cosine: 0.5, ageHours: 168, spanHours: 1000 }, 0.6914],
    [{ cosine: null, ageHours: 168, spanHours: 1000 }, 0.9361],
    [{ cosine: 0.9, ageHours: 10_000, spanHours: 20_000 }, 0.8392],
    [{ cosine: 0.5, ageHours: 24, resolved: true }, 0.2094],
    [{ cosine: 0.15, ageHours: 0 }, 0],
    [{ cosine: 0.5, ageHours: 1000, spanHours: 0, uses: 20, lastUseHours: 100 }, 0.4374],
  ];
  it.each(cases)(
    "of %j is %d",
    ({ cosine, ageHours, spanHours = 0, resolved = false, uses = 0, lastUseHours }, score) => {
      const now = 1e12;
      const input = {
        cosine,
        instant: ageHours === null ? null : now - ageHours * HOUR,
        resolved,
        recallCount: uses,
        lastRecalled: lastUseHours === undefined ? null : now - lastUseHours * HOUR,
      };
      const span = { oldest: now - spanHours * HOUR, newest: now };
      expect(confidence(input, { now, span, deep: false }, recall.confidence).score).toBe(score);
    },
  );

  it("guesses the age of a row without a moment", () => {
    const now = 1e12;
    const input = { cosine: 0.5, instant: null, resolved: false, recallCount: 0, lastRecalled: null };
    const span = { oldest: now - 110 * HOUR, newest: now - 10 * HOUR };
    expect(confidence(input, { now, span, deep: false }, recall.confidence)).toMatchObject({
      ageHours: 60,
      ageUnknown: true,
      score: 0.6478,
    });
  });
});
