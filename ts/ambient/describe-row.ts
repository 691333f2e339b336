// What the meta annotation and the breakdown say about a row of the block.

import { dot } from "../domain/dot.js";
import { parseInstant, storageTimeMs } from "../domain/time.js";
import { type Candidate, type RecordRow, rowTime } from "../recall/candidate.js";
import { withConfidence } from "../recall/score-confidence.js";
import type { Found } from "./find.js";
import { neighboursOf } from "./lensing.js";
import type { Look } from "./look-around.js";
import { massOf, nearestBlock, virtualCosine } from "./quantities.js";
import type { ShownRow } from "./shown-rows.js";
import type { AmbientParts, AmbientRequest, AmbientRow, PersonaRow } from "./types.js";

const DAY_MS = 86_400_000;

/** Adds what the meta annotation and the breakdown say about a row. */
export function describer(
  found: Found,
  look: Look,
  persona: PersonaRow | null,
  request: AmbientRequest,
  parts: AmbientParts,
): (row: ShownRow) => AmbientRow {
  const { recall } = parts;
  const now = recall.clock.now();
  const query = found.queryVector;
  return (shown) => {
    const { key, row } = shown;
    const vectors = look.vectors.has(key) ? look.vectors : parts.vectorsOf([key]);
    const vector = query === null ? null : nearestBlock(vectors.get(key), query);
    const raw = shown.cosine ?? (vector === null || query === null ? 0 : dot(vector, query));
    const virtual = shown.virtual ?? virtualOf(key, raw, vector, query, look);
    const personaVector =
      persona === null || query === null
        ? null
        : nearestBlock(parts.vectorsOf([persona.key]).get(persona.key), query);
    return {
      key,
      row,
      certainty: certaintyOf(shown, found, request, parts),
      ageDays: Math.max(0, (now - bornAt(row)) / DAY_MS),
      score: shown.score,
      replaces: shown.replaces,
      gap: shown.gap,
      resonance: shown.resonance,
      because: null,
      breakdown: {
        rawCosine: raw,
        virtualCosine: virtual,
        wave: shown.gap === null || virtual <= 0 ? 0 : Math.max(0, Math.min(1, shown.gap / virtual)),
        mass: massOf(recall.uses([key]).get(key), now),
        personaProximity:
          vector === null || personaVector === null || vector.length !== personaVector.length
            ? 0
            : dot(vector, personaVector),
        byWords: shown.candidate !== null && isByWords(shown.candidate),
      },
    };
  };
}

/** Of a direct row: its vector moved towards what was used with it or declared beside it. */
function virtualOf(
  key: number,
  raw: number,
  vector: Float32Array | null,
  query: Float32Array | null,
  look: Look,
): number {
  if (vector === null || query === null) return raw;
  const weights = new Map<number, number>();
  for (const [linked, to] of look.linked) {
    const weight = to.get(key);
    if (weight !== undefined) weights.set(linked, weight);
  }
  return virtualCosine(query, vector, neighboursOf(weights, look.vectors, query));
}

function isByWords({ ranks }: Candidate): boolean {
  return ranks.memories !== undefined || ranks.episodes !== undefined;
}

/** When the statement was made: an imported one is as old as its stamp says. */
function bornAt(row: RecordRow): number {
  const stored = storageTimeMs(row.kind === "mem" ? row.memory.createdAt : row.episode.createdAt);
  const said = parseInstant(rowTime(row));
  return said === null ? stored : Math.min(said, stored);
}

function certaintyOf(
  shown: ShownRow,
  found: Found,
  request: AmbientRequest,
  parts: AmbientParts,
): number | null {
  if (!parts.config.certaintyShown) return null;
  const candidate: Candidate = shown.candidate ?? {
    key: shown.key,
    row: shown.row,
    ranks: {},
    cosine: shown.cosine,
    fused: null,
    fromNeighbours: 0,
    coverage: null,
    exact: 0,
    holdsIdentifier: false,
    penalty: 1,
    confidence: null,
  };
  const asked = {
    query: request.query,
    scope: request.scope,
    limit: 1,
    sourceId: null,
    excludeContents: [],
    deep: false,
    trace: false,
    passages: null,
  };
  const [scored] = withConfidence([candidate], found.queryVector, asked, parts.recall);
  return scored?.confidence?.score ?? null;
}
