// Ranked lists -> one ranking of candidates. The arithmetic is the native core's; here lists get their weights
// and rows their neighbours' shares.

import { recordKey } from "../domain/record.js";
import type { Fusion, RankedLists } from "../native/contract.js";
import type { LexicalHit } from "../store/lexical.js";
import type { ListName, ListRanks } from "./candidate.js";
import {
  type FindNeighbours,
  type NeighbourOptions,
  type SharedRanking,
  shareWithNeighbours,
} from "./neighbours.js";
import type { VectorHit } from "./retrievers/vector.js";

/** What the retrievers found, best first. */
export interface RetrievedLists {
  readonly near: readonly VectorHit[];
  readonly far: readonly VectorHit[];
  readonly episodes: readonly LexicalHit[];
  readonly memories: readonly LexicalHit[];
}

export interface FuseOptions {
  readonly mode: "rrf" | "rsf";
  readonly rrfK: number;
  /** share of the vector lists; the lists by words have 1 */
  readonly vectorWeight: number;
  readonly neighbours: NeighbourOptions;
}

const ORDER: readonly ListName[] = ["near", "far", "episodes", "memories"];

/** Record keys of a list, best first. */
export function listKeys(lists: RetrievedLists, name: ListName): readonly number[] {
  if (name === "near" || name === "far") return lists[name].map((hit) => hit.key);
  return lists[name].map((hit) => recordKey(name === "memories" ? "mem" : "ep", hit.id));
}

/** Where each list names each record. */
export function listRanks(lists: RetrievedLists): Map<number, ListRanks> {
  const ranks = new Map<number, ListRanks>();
  for (const name of ORDER) {
    for (const [rank, key] of listKeys(lists, name).entries())
      ranks.set(key, { ...ranks.get(key), [name]: rank });
  }
  return ranks;
}

/** Fused rows, best first; equal scores keep the order near, far, episodes, memories. */
export function fuseLists(
  lists: RetrievedLists,
  fusion: Fusion,
  find: FindNeighbours,
  options: FuseOptions,
): SharedRanking {
  const keys = ORDER.map((name) => listKeys(lists, name));
  const ranked = toRankedLists(keys, [options.vectorWeight, options.vectorWeight, 1, 1]);
  const fused =
    options.mode === "rrf" ? fusion.rrf(ranked, options.rrfK) : fusion.rsf(ranked, listScores(lists));
  return shareWithNeighbours(fused, find, options.neighbours);
}

/** Lists one behind the other, without fusion: near vectors, episodes, memories by words. */
export function appendLists(lists: RetrievedLists): number[] {
  return [
    ...new Set([...listKeys(lists, "near"), ...listKeys(lists, "episodes"), ...listKeys(lists, "memories")]),
  ];
}

function listScores(lists: RetrievedLists): Float64Array {
  return Float64Array.from(ORDER.flatMap((name) => lists[name].map((hit) => hit.score)));
}

function toRankedLists(lists: readonly (readonly number[])[], weights: readonly number[]): RankedLists {
  const offsets = new Uint32Array(lists.length + 1);
  for (const [i, list] of lists.entries()) offsets[i + 1] = (offsets[i] ?? 0) + list.length;
  return { keys: Float64Array.from(lists.flat()), offsets, weights: Float64Array.from(weights) };
}
