import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FusedRanking, RankedLists } from "../../../ts/native/contract.js";
import { twinFusion } from "../../../ts/native/twin/fusion.js";
import { nativeAbsence, theAddon } from "../../support/native.js";

interface Case {
  readonly lists: RankedLists;
  readonly scores: Float64Array;
}

const score = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: -40, max: 40, noNaN: true }) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
  { weight: 2, arbitrary: fc.constantFrom(0.25, 1) },
);
const key = fc.oneof(fc.integer({ min: 0, max: 30 }), fc.maxSafeNat());
const row = fc.tuple(key, score);
const list = fc.record({
  rows: fc.array(row, { maxLength: 15 }),
  weight: fc.double({ min: 0, max: 3, noNaN: true }),
});
const cases: fc.Arbitrary<Case> = fc.array(list, { maxLength: 5 }).map((parts) => {
  const rows = parts.flatMap((part) => part.rows);
  const offsets = [0];
  for (const part of parts) offsets.push((offsets.at(-1) as number) + part.rows.length);
  return {
    lists: {
      keys: Float64Array.from(rows, ([k]) => k),
      offsets: Uint32Array.from(offsets),
      weights: Float64Array.from(parts, (part) => part.weight),
    },
    scores: Float64Array.from(rows, ([, s]) => s),
  };
});

/** Bits, so that neither rounding nor the order of ties may differ. */
function bits({ keys, scores }: FusedRanking): unknown {
  return { keys: [...keys], scores: [...new BigUint64Array(scores.slice().buffer)] };
}

describe.skipIf(nativeAbsence !== "")(`native fusion${nativeAbsence}`, () => {
  it("gives the twin's bits by rank", () => {
    const { fusion } = theAddon().core;
    fc.assert(
      fc.property(cases, fc.double({ min: 0.5, max: 100, noNaN: true }), ({ lists }, k) => {
        expect(bits(fusion.rrf(lists, k))).toEqual(bits(twinFusion.rrf(lists, k)));
      }),
      { numRuns: 500 },
    );
  });

  it("gives the twin's bits by score", () => {
    const { fusion } = theAddon().core;
    fc.assert(
      fc.property(cases, ({ lists, scores }) => {
        expect(bits(fusion.rsf(lists, scores))).toEqual(bits(twinFusion.rsf(lists, scores)));
      }),
      { numRuns: 500 },
    );
  });

  it("refuses what the twin refuses, by the same name", () => {
    const { fusion } = theAddon().core;
    const good: RankedLists = {
      keys: Float64Array.of(2, 4),
      offsets: Uint32Array.of(0, 2),
      weights: Float64Array.of(1),
    };
    const bad: RankedLists[] = [
      { ...good, offsets: Uint32Array.of(0) },
      { ...good, offsets: Uint32Array.of(0, 3) },
      { ...good, weights: Float64Array.of(-1) },
      { ...good, keys: Float64Array.of(2, Number.NaN) },
    ];
    const refusal = (run: () => unknown) => {
      try {
        return run();
      } catch (error) {
        const { code, field } = error as { code: string; field: string };
        return { code, field };
      }
    };
    const scores = Float64Array.of(1, 2);
    for (const lists of bad) {
      expect(refusal(() => fusion.rrf(lists, 60))).toEqual(refusal(() => twinFusion.rrf(lists, 60)));
      expect(refusal(() => fusion.rsf(lists, scores))).toEqual(refusal(() => twinFusion.rsf(lists, scores)));
    }
    for (const wrong of [Float64Array.of(1), Float64Array.of(1, Number.POSITIVE_INFINITY)]) {
      expect(refusal(() => fusion.rsf(good, wrong))).toEqual(refusal(() => twinFusion.rsf(good, wrong)));
    }
    for (const k of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(refusal(() => fusion.rrf(good, k))).toEqual(refusal(() => twinFusion.rrf(good, k)));
    }
  });
});
