import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FusedRanking, RankedLists } from "../../../../ts/native/contract.js";
import { twinFusion } from "../../../../ts/native/twin/fusion.js";

function listsOf(lists: readonly (readonly number[])[], weights?: readonly number[]): RankedLists {
  const offsets = [0];
  for (const list of lists) offsets.push((offsets.at(-1) ?? 0) + list.length);
  return {
    keys: Float64Array.from(lists.flat()),
    offsets: Uint32Array.from(offsets),
    weights: Float64Array.from(weights ?? lists.map(() => 1)),
  };
}

function pairs({ keys, scores }: FusedRanking): [number, number][] {
  return [...keys].map((key, i) => [key, scores[i] ?? Number.NaN]);
}

const NAN = Number.NaN;
const rankedList = fc.uniqueArray(fc.nat(20), { maxLength: 8 });
const weightedLists = fc
  .array(fc.tuple(rankedList, fc.double({ min: 0, max: 2, noNaN: true })), { maxLength: 5 })
  .map((lists) => ({
    lists: listsOf(
      lists.map(([keys]) => keys),
      lists.map(([, weight]) => weight),
    ),
    weights: lists.map(([, weight]) => weight),
  }));

describe("reciprocal rank fusion", () => {
  it("sums weight / (k + rank), rank from 1", () => {
    const fused = twinFusion.rrf(listsOf([[10, 20], [20, 30], [30]], [1, 1, 0.5]), 60);
    expect(pairs(fused)).toEqual([
      [20, 1 / 62 + 1 / 61],
      [30, 1 / 62 + 0.5 / 61],
      [10, 1 / 61],
    ]);
  });

  it("keeps the order of first mention among equal scores", () => {
    expect([...twinFusion.rrf(listsOf([[5], [9], [1]]), 10).keys]).toEqual([5, 9, 1]);
    expect([...twinFusion.rrf(listsOf([[3, 4], [], [4, 3]]), 10).keys]).toEqual([3, 4]);
  });

  it("fuses no lists and empty lists to nothing", () => {
    expect(pairs(twinFusion.rrf(listsOf([]), 60))).toEqual([]);
    expect(pairs(twinFusion.rrf(listsOf([[], []]), 60))).toEqual([]);
  });

  it("names every key once, in descending order, within the greatest possible score", () => {
    fc.assert(
      fc.property(weightedLists, fc.double({ min: 0.5, max: 100, noNaN: true }), (input, k) => {
        const fused = twinFusion.rrf(input.lists, k);
        expect(new Set(fused.keys)).toEqual(new Set(input.lists.keys));
        expect(fused.keys).toHaveLength(new Set(input.lists.keys).size);
        expect([...fused.scores]).toEqual([...fused.scores].sort((a, b) => b - a));
        const most = input.weights.reduce((sum, weight) => sum + weight / (k + 1), 0);
        for (const score of fused.scores) expect(score).toBeLessThanOrEqual(most * (1 + 1e-12));
      }),
    );
  });

  it("keeps the order of a single list", () => {
    fc.assert(
      fc.property(rankedList, (keys) => {
        expect([...twinFusion.rrf(listsOf([keys]), 60).keys]).toEqual(keys);
      }),
    );
  });

  it("refuses broken arguments", () => {
    const invalid = (field: string) => expect.objectContaining({ code: "invalid_argument", field });
    const lists = listsOf([[1, 2]]);
    expect(() => twinFusion.rrf(lists, 0)).toThrow(invalid("k"));
    expect(() => twinFusion.rrf(lists, NAN)).toThrow(invalid("k"));
    expect(() => twinFusion.rrf({ ...lists, offsets: Uint32Array.of(0, 1) }, 60)).toThrow(invalid("offsets"));
    expect(() => twinFusion.rrf({ ...lists, offsets: Uint32Array.of(0) }, 60)).toThrow(invalid("offsets"));
    expect(() => twinFusion.rrf({ ...lists, weights: Float64Array.of(-1) }, 60)).toThrow(invalid("weights"));
    expect(() => twinFusion.rrf({ ...lists, keys: Float64Array.of(1, NAN) }, 60)).toThrow(invalid("keys"));
  });
});

describe("relative score fusion", () => {
  it("normalises each list to [0, 1]: {2, 5, none} gives {0, 1, 0}", () => {
    const fused = twinFusion.rsf(listsOf([[1, 2, 3]]), Float64Array.of(2, 5, NAN));
    expect(pairs(fused)).toEqual([
      [2, 1],
      [1, 0],
      [3, 0],
    ]);
  });

  it("gives 1 to all of a list whose scores are equal, or all missing", () => {
    expect(pairs(twinFusion.rsf(listsOf([[1]]), Float64Array.of(3)))).toEqual([[1, 1]]);
    expect(pairs(twinFusion.rsf(listsOf([[1, 2]]), Float64Array.of(NAN, NAN)))).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  it("divides by the number of lists that hold a row, empty ones left out", () => {
    const lists = listsOf([[1, 2, 3], [], [3, 4]], [1, 1, 0.5]);
    const fused = twinFusion.rsf(lists, Float64Array.of(8, 6, 4, 9, 7));
    expect(pairs(fused)).toEqual([
      [1, 0.5],
      [2, 0.25],
      [3, 0.25],
      [4, 0],
    ]);
  });

  it("stays within [0, mean weight] and does not change when a list's scores are shifted and scaled", () => {
    const scored = fc.array(fc.tuple(fc.nat(20), fc.integer({ min: -50, max: 50 })), { maxLength: 10 });
    fc.assert(
      fc.property(scored, scored, (first, second) => {
        const lists = listsOf([first.map(([key]) => key), second.map(([key]) => key)]);
        const scores = [...first, ...second].map(([, score]) => score);
        const fused = twinFusion.rsf(lists, Float64Array.from(scores));
        const moved = twinFusion.rsf(
          lists,
          Float64Array.from(scores, (score) => score * 4 - 64),
        );
        expect(moved).toEqual(fused);
        expect([...fused.scores].every((score) => score >= 0)).toBe(true);
      }),
    );
  });

  it("refuses scores that are not parallel or infinite", () => {
    const lists = listsOf([[1, 2]]);
    const invalid = expect.objectContaining({ code: "invalid_argument", field: "scores" });
    expect(() => twinFusion.rsf(lists, Float64Array.of(1))).toThrow(invalid);
    expect(() => twinFusion.rsf(lists, Float64Array.of(1, Number.POSITIVE_INFINITY))).toThrow(invalid);
  });
});
