// Values that the reference system gave for the same formulas.

import { describe, expect, it } from "vitest";
import { readConfig } from "../../../ts/config.js";
import { parseInstant } from "../../../ts/domain/time.js";
import { separate } from "../../../ts/maintenance/separation.js";
import { applyAutocut } from "../../../ts/recall/autocut.js";
import type { Candidate } from "../../../ts/recall/candidate.js";
import { confidence } from "../../../ts/recall/confidence.js";
import { penaltyFactor } from "../../../ts/recall/episode-penalty.js";
import { exclusion } from "../../../ts/recall/exclude.js";
import { type ContextEntry, heldTexts, mergeByTime } from "../../../ts/recall/with-context.js";

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

describe("autocut", () => {
  /** What keys a row in cascade: its cosine, without a fused value. */
  const candidates = (cosines: readonly (number | null)[], fused: number | null = null): Candidate[] =>
    cosines.map((cosine, key) => ({
      key,
      row: { kind: "mem", memory: {} as never },
      ranks: {},
      cosine,
      fused,
      fromNeighbours: 0,
      coverage: null,
      exact: 0,
      holdsIdentifier: false,
      penalty: 1,
      confidence: null,
    }));
  const kept = (...args: Parameters<typeof candidates>): number =>
    applyAutocut(candidates(...args), recall.autocut).length;

  it.each([
    [[0.9, 0.88, 0.5, 0.49], 2],
    [[0.9, 0.1], 2],
    [[0.9, 0.85, 0.8], 3],
    [[0.9, 0.5, 0.1, 0.09], 1],
  ])("keeps of the cosines %j the first %d", (cosines, count) => {
    expect(kept(cosines)).toBe(count);
  });

  it("keeps all rows where one has no cosine, and all fused ones", () => {
    expect(kept([0.9, 0.88, null, 0.49])).toBe(4);
    expect(kept([0.9, 0.88, 0.5, 0.49], 0.1)).toBe(4);
  });
});

describe("the separation of two samples", () => {
  it("lies between them", () => {
    const { threshold, youdenJ } = separate([0.1, 0.2, 0.3, 0.15], [0.5, 0.6, 0.4], 1);
    expect(youdenJ).toBe(1);
    // The reference stays at the upper end of the nulls (0.3000…04); the middle admits less by chance.
    expect(threshold).toBeGreaterThan(0.3);
    expect(threshold).toBeLessThanOrEqual(0.4);
  });
});

describe("exclusion", () => {
  const text = "0123456789".repeat(5);
  it.each([
    [5, 5, true],
    [11, 5, false],
    [44, 40, true],
    [35, 40, true],
    [10, 40, true],
    [32, 31, false],
  ])("of a row of %d by an entry of %d is %s", (row, entry, excluded) => {
    expect(exclusion([text.slice(0, entry)])(text.slice(0, row))).toBe(excluded);
  });
});

describe("instants", () => {
  it.each([
    "2026-01-02",
    "20260102",
    "2026-W01-5",
    "2026-01-02X03:04",
    "2026-01-02T03:04:05,5",
    "2026-01-02T03:04:05 +09:00",
    "2026-01-02T03:04:05.123456789Z",
  ])("are read from %s", (stamp) => {
    expect(parseInstant(stamp)).not.toBeNull();
  });

  it.each([
    "2026-1-2",
    "1767323045",
    "2026-01-02T03:04:05z",
    "2026-01-02T24:00:00",
    "2026-01-02T03:04:60",
    " 2026-01-02",
    "２０２６-０１-０２",
    "0001-01-01T00:00:00+09:00",
  ])("are not read from '%s'", (stamp) => {
    expect(parseInstant(stamp)).toBeNull();
  });
});

describe("the merge with a conversation", () => {
  it("puts the undated entry first and shows no tool entry, which only filters", () => {
    const row = (timestamp: string) => ({
      row: { kind: "mem" as const, memory: { timestamp } as never },
    });
    const entries: ContextEntry[] = [
      { role: "user", content: "stamped", timestamp: "2030-01-01T00:00:00Z" },
      { role: "tool", content: "filters" },
      { role: "assistant", content: "undated" },
    ];
    const late = row("2026-03-02T00:00:00Z");
    const early = row("2026-03-01T00:00:00Z");
    const merged = mergeByTime([late, early], entries);
    expect(merged).toEqual([
      { kind: "echo", entry: entries[2] },
      { kind: "hit", hit: early },
      { kind: "hit", hit: late },
      { kind: "echo", entry: entries[0] },
    ]);
    expect(heldTexts(entries)).toContain("filters");
  });
});
