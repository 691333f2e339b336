import { describe, expect, it } from "vitest";
import { type QuickLevelParts, QuickLevels } from "../../../ts/maintenance/quick-level.js";

/** Unit vectors at these angles. */
const at = (...angles: number[]): Float32Array[] =>
  angles.map((angle) => Float32Array.of(Math.cos(angle), Math.sin(angle)));

function levels(parts: Partial<QuickLevelParts>): QuickLevels {
  return new QuickLevels({
    identity: () => "model",
    questions: () => null,
    spreadVectors: () => [],
    ...parts,
  });
}

describe("the quick level of unrelated texts", () => {
  it("is the median cosine of rows that lie half the sample apart", () => {
    const vectors = at(0, 0.1, 0.2, 1, 1.1, 1.2);
    expect(levels({ spreadVectors: () => vectors }).unrelated("a", 30)).toBeCloseTo(Math.cos(1), 6);
  });

  it("is unknown under 30 rows, and where no row has a vector", () => {
    expect(levels({ spreadVectors: () => at(0, 1) }).unrelated("a", 29)).toBeNull();
    expect(levels({}).unrelated("a", 1000)).toBeNull();
  });

  it("is that of questions with the rows where they are known, from the first row on", () => {
    const questions = [Float32Array.of(0.8, 0), Float32Array.of(0, 0.9)];
    const one = levels({ questions: () => questions, spreadVectors: () => at(0) });
    expect(one.unrelated("a", 1)).toBeCloseTo(0.8, 6);
    const many = levels({ questions: () => questions, spreadVectors: () => at(1.2, 1.3, 0) });
    expect(many.unrelated("a", 3)).toBeCloseTo(0.9 * Math.sin(1.2), 6);
  });

  it("is looked at again when the store has doubled, for each agent and embedder by itself", () => {
    const asked: string[] = [];
    let identity = "model";
    const quick = levels({
      identity: () => identity,
      spreadVectors: (agentId) => {
        asked.push(agentId);
        return at(0, 1);
      },
    });
    for (const rows of [30, 59, 60]) quick.unrelated("a", rows);
    quick.unrelated("b", 30);
    identity = "other";
    quick.unrelated("a", 60);
    expect(asked).toEqual(["a", "a", "b", "a"]);
  });
});
