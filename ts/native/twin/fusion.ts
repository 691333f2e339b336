// Rank fusion in plain TypeScript, in float64 and in list order, so that the native form can agree bit for bit.
// It sees keys, ranks, scores and weights; what a list stands for is the caller's business.

import { invalidArgument } from "../../errors.js";
import type { FusedRanking, Fusion, RankedLists, RecordKey } from "../contract.js";

export const twinFusion: Fusion = {
  rrf(lists, k) {
    checkLists(lists);
    if (!(k > 0) || !Number.isFinite(k)) throw invalidArgument("k", "must be finite and greater than 0");
    const totals = new Map<RecordKey, number>();
    forEachList(lists, (start, end, weight) => {
      for (let at = start; at < end; at++) addTo(totals, lists, at, weight / (k + (at - start + 1)));
    });
    return ranked(totals);
  },

  rsf(lists, scores) {
    checkLists(lists);
    if (scores.length !== lists.keys.length)
      throw invalidArgument("scores", "must have one entry for each key");
    const isUsable = (score: number) => Number.isFinite(score) || Number.isNaN(score);
    if (!scores.every(isUsable)) throw invalidArgument("scores", "must be finite or NaN");
    const totals = new Map<RecordKey, number>();
    let votingLists = 0;
    forEachList(lists, (start, end, weight) => {
      if (end > start) votingLists++;
      const shares = minMaxNormalised(scores.subarray(start, end));
      for (let at = start; at < end; at++) addTo(totals, lists, at, weight * (shares[at - start] as number));
    });
    for (const [key, total] of totals) totals.set(key, total / votingLists);
    return ranked(totals);
  },
};

/** Scores stretched to [0, 1]; all equal or all NaN give 1, NaN among numbers gives 0. */
function minMaxNormalised(scores: Float64Array): Float64Array {
  const known = scores.filter((score) => !Number.isNaN(score));
  if (known.length === 0) return scores.map(() => 1);
  const low = known.reduce((a, b) => Math.min(a, b));
  const high = known.reduce((a, b) => Math.max(a, b));
  return scores.map((score) => {
    if (Number.isNaN(score)) return 0;
    return high === low ? 1 : (score - low) / (high - low);
  });
}

function forEachList(lists: RankedLists, visit: (start: number, end: number, weight: number) => void): void {
  lists.weights.forEach((weight, i) => {
    visit(lists.offsets[i] as number, lists.offsets[i + 1] as number, weight);
  });
}

function addTo(totals: Map<RecordKey, number>, lists: RankedLists, at: number, share: number): void {
  const key = lists.keys[at] as number;
  totals.set(key, (totals.get(key) ?? 0) + share);
}

/** A Map keeps the order of first mention and `sort` is stable, which gives the contract's order of ties. */
function ranked(totals: Map<RecordKey, number>): FusedRanking {
  const rows = [...totals].sort((a, b) => b[1] - a[1]);
  return {
    keys: Float64Array.from(rows, (row) => row[0]),
    scores: Float64Array.from(rows, (row) => row[1]),
  };
}

function checkLists({ keys, offsets, weights }: RankedLists): void {
  if (keys.some(Number.isNaN)) throw invalidArgument("keys", "must be numbers");
  if (offsets.length !== weights.length + 1) {
    throw invalidArgument("offsets", "must have one entry more than weights");
  }
  const isAscending = offsets.every((offset, i) => i === 0 || offset >= (offsets[i - 1] as number));
  if (offsets[0] !== 0 || offsets.at(-1) !== keys.length || !isAscending) {
    throw invalidArgument("offsets", "must ascend from 0 to the number of keys");
  }
  if (!weights.every((weight) => Number.isFinite(weight) && weight >= 0)) {
    throw invalidArgument("weights", "must be finite and not negative");
  }
}
