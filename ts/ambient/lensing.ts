// Gravity lensing: rows whose text is far from the prompt but that were used with, declared beside or said
// together with a direct row. They come from a list of their own, and need that evidence to be on it.

import { dot } from "../domain/dot.js";
import { recordKey } from "../domain/record.js";
import type { Relation } from "../domain/relation.js";
import { MAX_CO_USE } from "../domain/use.js";
import type { CoUse } from "../store/uses.js";
import { type Neighbour, nearestBlock, resonance, virtualCosine } from "./quantities.js";

/** Weights of a link, 0 to 1: declared, used together, said in the same breath. */
const DECLARED = 1;
const SAID_TOGETHER = 0.4;

export interface Links {
  readonly relations: readonly Relation[];
  readonly coUses: readonly CoUse[];
  /** memory id -> ids said right before and after it */
  readonly said: ReadonlyMap<number, readonly number[]>;
}

/** For each linked record that is no direct row: its links to direct rows, strongest kind first. */
export function linkedRecords(direct: readonly number[], links: Links): Map<number, Map<number, number>> {
  const isDirect = new Set(direct);
  const out = new Map<number, Map<number, number>>();
  const add = (key: number, to: number, weight: number): void => {
    if (isDirect.has(key) || !isDirect.has(to)) return;
    const known = out.get(key) ?? new Map<number, number>();
    known.set(to, Math.max(known.get(to) ?? 0, weight));
    out.set(key, known);
  };
  for (const { from, to, type } of links.relations) {
    // The replaced and the reason have places of their own.
    if (type === "supersedes" || type === "contradicts") continue;
    add(to, from, DECLARED);
    add(from, to, DECLARED);
  }
  for (const { key, other, weight } of links.coUses) add(other, key, weight / MAX_CO_USE);
  for (const [id, ids] of links.said)
    for (const other of ids) add(recordKey("mem", other), recordKey("mem", id), SAID_TOGETHER);
  return out;
}

export interface LensedRow {
  readonly key: number;
  readonly raw: number;
  readonly virtual: number;
  readonly gap: number;
  readonly resonance: number;
  readonly score: number;
}

export interface LensingOptions {
  readonly maxK: number;
  /** calibrated virtual cosine, and difference of the raw ones */
  readonly minScore: number;
  readonly minGap: number;
  readonly resonanceScale: number;
  readonly calibrate: (raw: number) => number;
  readonly noveltyOf: (key: number) => number;
}

export function pickLensing(
  linked: ReadonlyMap<number, ReadonlyMap<number, number>>,
  links: Links,
  vectors: ReadonlyMap<number, readonly Float32Array[]>,
  query: Float32Array,
  options: LensingOptions,
): LensedRow[] {
  const rows: LensedRow[] = [];
  for (const [key, weights] of linked) {
    const vector = nearestBlock(vectors.get(key), query);
    if (vector === null) continue;
    const raw = dot(vector, query);
    const virtual = virtualCosine(query, vector, neighboursOf(weights, vectors, query));
    const gap = virtual - raw;
    if (options.calibrate(virtual) < options.minScore || gap < options.minGap) continue;
    const used = links.coUses
      .filter(({ other }) => other === key)
      .reduce((sum, { weight }) => sum + weight, 0);
    const score = gap * Math.max(...weights.values()) * options.noveltyOf(key);
    rows.push({ key, raw, virtual, gap, resonance: resonance(used, options.resonanceScale), score });
  }
  return rows.sort((a, b) => b.score - a.score || b.key - a.key).slice(0, options.maxK);
}

export function neighboursOf(
  weights: ReadonlyMap<number, number>,
  vectors: ReadonlyMap<number, readonly Float32Array[]>,
  query: Float32Array,
): Neighbour[] {
  return Array.from(weights, ([key, weight]) => ({
    vector: nearestBlock(vectors.get(key), query),
    weight,
  })).filter((neighbour): neighbour is Neighbour => neighbour.vector !== null);
}
