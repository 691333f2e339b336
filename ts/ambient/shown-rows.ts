// Rows on their way into the direct and the lensing slot: superseded ones give way to their successors, linked
// ones come in.

import type { Candidate, RecordRow } from "../recall/candidate.js";
import { rowsOfKeys } from "../recall/retrieve.js";
import { novelty, type Picked } from "./direct.js";
import { successorOf } from "./edges.js";
import type { Found } from "./find.js";
import { pickLensing } from "./lensing.js";
import type { Look } from "./look-around.js";
import type { AmbientParts, AmbientRequest } from "./types.js";

export interface ShownRow {
  readonly key: number;
  readonly row: RecordRow;
  readonly candidate: Candidate | null;
  readonly cosine: number | null;
  readonly score: number;
  readonly replaces: number | null;
  readonly gap: number | null;
  readonly virtual: number | null;
  readonly resonance: number | null;
}

const MAX_HOPS = 10;

/** Direct rows with superseded ones replaced by their newest visible successor, each record once. */
export function currentVersions(
  picked: readonly Picked[],
  look: Look,
  request: AmbientRequest,
  parts: AmbientParts,
): ShownRow[] {
  const out = new Map<number, ShownRow>();
  for (const { judged, score } of picked) {
    const { candidate, cosine } = judged;
    const own: ShownRow = {
      key: candidate.key,
      row: candidate.row,
      candidate,
      cosine,
      score,
      replaces: null,
      gap: null,
      virtual: null,
      resonance: null,
    };
    const successor = successorRow(candidate.key, look, request, parts);
    const shown: ShownRow =
      successor === null
        ? own
        : { ...own, ...successor, replaces: candidate.key, candidate: null, cosine: null };
    if (!out.has(shown.key)) out.set(shown.key, shown);
    else if (shown.replaces !== null)
      out.set(shown.key, { ...(out.get(shown.key) as ShownRow), replaces: shown.replaces });
  }
  return [...out.values()];
}

/** Follows `supersedes` to the newest version that may be seen. */
function successorRow(
  key: number,
  look: Look,
  request: AmbientRequest,
  parts: AmbientParts,
): { key: number; row: RecordRow } | null {
  let found: { key: number; row: RecordRow } | null = null;
  const seen = new Set([key]);
  let relations = look.links.relations;
  for (let at = key, hop = 0; hop < MAX_HOPS; hop++) {
    const next = successorOf(at, relations);
    if (next === null || seen.has(next)) break;
    seen.add(next);
    const row = rowsOfKeys(new Set([next]), request.scope, null, parts.recall).get(next);
    if (row === undefined) break;
    found = { key: next, row };
    at = next;
    relations = parts.relationsOf([next]);
  }
  return found;
}

export function lensingRows(
  direct: readonly ShownRow[],
  look: Look,
  found: Found,
  request: AmbientRequest,
  parts: AmbientParts,
): ShownRow[] {
  const { config } = parts;
  if (!config.lensingEnabled || found.queryVector === null || look.linked.size === 0) return [];
  const isShown = new Set(direct.flatMap(({ key, replaces }) => [key, replaces]));
  const picks = pickLensing(look.linked, look.links, look.vectors, found.queryVector, {
    maxK: config.lensingMaxK + direct.length,
    minScore: config.lensingMinScore,
    minGap: config.lensingMinGap,
    resonanceScale: config.lensingResonanceScale,
    calibrate: found.calibrate,
    noveltyOf: (key) => novelty(key, { shown: request.shown, noveltyDecay: config.noveltyDecay }),
  }).filter(({ key }) => !isShown.has(key));
  const rows = rowsOfKeys(new Set(picks.map(({ key }) => key)), request.scope, null, parts.recall);
  return picks
    .flatMap(({ key, raw, gap, resonance, score, virtual }): ShownRow[] => {
      const row = rows.get(key);
      return row === undefined
        ? []
        : [{ key, row, candidate: null, cosine: raw, score, replaces: null, gap, virtual, resonance }];
    })
    .slice(0, config.lensingMaxK);
}
