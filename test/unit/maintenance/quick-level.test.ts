import { describe, expect, it } from "vitest";
import { QuickLevels } from "../../../ts/maintenance/quick-level.js";

/** Unit vectors at these angles. */
const at = (...angles: number[]): Float32Array[] =>
  angles.map((angle) => Float32Array.of(Math.cos(angle), Math.sin(angle)));

describe("the quick level of unrelated texts", () => {
  it("is the median cosine of rows that lie half the sample apart", () => {
    const vectors = at(0, 0.1, 0.2, 1, 1.1, 1.2);
    const levels = new QuickLevels({ spreadVectors: () => vectors });
    expect(levels.unrelated("a", 30)).toBeCloseTo(Math.cos(1), 6);
  });

  it("is unknown under 30 rows, and where no row has a vector", () => {
    const levels = new QuickLevels({ spreadVectors: () => [] });
    expect(levels.unrelated("a", 29)).toBeNull();
    expect(levels.unrelated("a", 1000)).toBeNull();
  });

  it("is looked at again when the store has doubled, for each agent by itself", () => {
    const asked: string[] = [];
    const levels = new QuickLevels({
      spreadVectors: (agentId) => {
        asked.push(agentId);
        return at(0, 1);
      },
    });
    for (const rows of [30, 59, 60]) levels.unrelated("a", rows);
    levels.unrelated("b", 30);
    expect(asked).toEqual(["a", "a", "b"]);
  });
});
