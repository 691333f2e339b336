// Ranked lists -> one ranking of candidates. The arithmetic is the native core's; here lists get their weights.

import type { Fusion, RankedLists } from "../native/contract.js";
import type { LexicalHit } from "../store/lexical.js";
import type { Candidate } from "./candidate.js";
import type { VectorLists } from "./retrievers/vector.js";

/** What the retrievers found. */
export interface RetrievedLists extends VectorLists {
  readonly episodes: readonly (LexicalHit & { readonly key: number })[];
  readonly memories: readonly (LexicalHit & { readonly key: number })[];
}

export interface FuseOptions {
  readonly mode: "rrf" | "rsf";
  readonly rrfK: number;
  /** share of the vector lists, the lexical lists have 1 */
  readonly vectorWeight: number;
}

/** Fused candidates, best first; equal scores keep the order near, far, episodes, memories. */
export function fuseLists(lists: RetrievedLists, fusion: Fusion, options: FuseOptions): Candidate[] {
  const ordered = [lists.near, lists.far, lists.episodes, lists.memories];
  const ranked = toRankedLists(
    ordered.map((list) => list.map((hit) => hit.key)),
    [options.vectorWeight, options.vectorWeight, 1, 1],
  );
  const scores = Float64Array.from([
    ...[...lists.near, ...lists.far].map((hit) => hit.cosine),
    ...[...lists.episodes, ...lists.memories].map((hit) => hit.score),
  ]);
  const fused = options.mode === "rrf" ? fusion.rrf(ranked, options.rrfK) : fusion.rsf(ranked, scores);
  const describe = describer(lists);
  return Array.from(fused.keys, (key, i) => ({ ...describe(key), score: fused.scores[i] ?? 0 }));
}

/** Lists appended in order of retrieval, without fusion: near vectors, then episodes, then memories by words. */
export function cascadeLists(lists: RetrievedLists): Candidate[] {
  const keys = new Set([...lists.near, ...lists.episodes, ...lists.memories].map((hit) => hit.key));
  return [...keys].map(describer(lists));
}

function describer(lists: RetrievedLists): (key: number) => Candidate {
  const cosines = new Map([...lists.near, ...lists.far].map((hit) => [hit.key, hit.cosine]));
  const keywords = new Set([...lists.episodes, ...lists.memories].map((hit) => hit.key));
  return (key) => {
    const cosine = cosines.get(key);
    return { key, keyword: keywords.has(key), ...(cosine === undefined ? {} : { cosine }) };
  };
}

function toRankedLists(lists: readonly (readonly number[])[], weights: readonly number[]): RankedLists {
  const offsets = new Uint32Array(lists.length + 1);
  for (const [i, list] of lists.entries()) offsets[i + 1] = (offsets[i] ?? 0) + list.length;
  return { keys: Float64Array.from(lists.flat()), offsets, weights: Float64Array.from(weights) };
}
