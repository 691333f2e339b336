// The direct rows: the best by relevance, with mass as a bounded tie-breaker, rows shown lately damped, and
// spread over sources.

import { rowText } from "../recall/candidate.js";
import { foldCase } from "../text/normalise.js";
import type { Judged } from "./find.js";

/** The heaviest row gains no more than this share. */
const MAX_MASS_GAIN = 0.05;
/** What a row keeps for each row of its source that was chosen before. */
const SAME_SOURCE = 0.85;

export interface Picked {
  readonly judged: Judged;
  /** what it was ordered by: relevance with mass and novelty, without the spread over sources */
  readonly score: number;
}

export interface DirectOptions {
  readonly directK: number;
  /** factor for each recent showing; 1 damps nothing */
  readonly noveltyDecay: number;
  readonly shown: ReadonlyMap<number, number>;
  readonly massOf: (key: number) => number;
}

export function pickDirect(candidates: readonly Judged[], options: DirectOptions): Picked[] {
  const open = candidates.map((judged) => ({ judged, score: directScore(judged, options) }));
  const picked: Picked[] = [];
  const sources = new Map<string, number>();
  const texts = new Set<string>();
  while (picked.length < options.directK && open.length > 0) {
    let best = -1;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (const [i, { judged, score }] of open.entries()) {
      const spread = score * SAME_SOURCE ** (sources.get(sourceOf(judged)) ?? 0);
      if (spread > bestScore) {
        best = i;
        bestScore = spread;
      }
    }
    const [pick] = open.splice(best, 1);
    if (pick === undefined) break;
    // The same words in another project or channel would only take a place.
    const text = foldCase(rowText(pick.judged.candidate.row));
    if (texts.has(text)) continue;
    texts.add(text);
    picked.push(pick);
    const source = sourceOf(pick.judged);
    sources.set(source, (sources.get(source) ?? 0) + 1);
  }
  return picked;
}

function directScore({ candidate, relevance }: Judged, options: DirectOptions): number {
  const gain = MAX_MASS_GAIN * (1 - 1 / options.massOf(candidate.key));
  return relevance * (1 + gain) * novelty(candidate.key, options);
}

export function novelty(
  key: number,
  { shown, noveltyDecay }: Pick<DirectOptions, "shown" | "noveltyDecay">,
): number {
  return noveltyDecay >= 1 ? 1 : noveltyDecay ** Math.max(0, shown.get(key) ?? 0);
}

function sourceOf({ candidate: { row, key } }: Judged): string {
  if (row.kind === "ep") return `ep:${key}`;
  const { source, metadata } = row.memory;
  const file = metadata["file"] ?? metadata["session_id"];
  if (typeof file === "string") return `file:${file}`;
  return typeof source === "string" ? source : `${String(source["type"])}:${String(source["id"])}`;
}
