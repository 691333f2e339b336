// Store and embedder as the parts that calibration works with.

import { recordKey, recordOfKey } from "../domain/record.js";
import type { ReadScope } from "../domain/scope.js";
import { parseInstant } from "../domain/time.js";
import { calibratedCosine, identityKey, presentIdentity } from "../embedding/embedder.js";
import type { CalibrateParts } from "../maintenance/calibrate.js";
import { nextTurn } from "../next-turn.js";
import { confidence } from "../recall/confidence.js";
import type { CalibrationParts } from "../service/calibration-service.js";
import { Lease } from "../store/lease.js";
import { vectorSource, type Wiring } from "./recall-parts.js";

export function calibrationParts(wiring: Wiring): CalibrationParts {
  const { config, clock, store, embedder, calibrations } = wiring;
  const lease = new Lease(store.database, store.settings, "calibration", () => clock.now());
  return {
    config,
    calibrations,
    partsFor: (agentId) => calibrateParts(agentId, wiring),
    agents: () => store.memoryCounts(),
    lease: (ms) => lease.take(ms),
    release: () => lease.release(),
    embedder: () => {
      const identity = presentIdentity(embedder);
      return identity === null ? null : { dimension: identity.dimension, identity: identityKey(identity) };
    },
  };
}

function calibrateParts(agentId: string, wiring: Wiring): CalibrateParts {
  const { store, embedder } = wiring;
  const scope: ReadScope = { agentId: agentId === "" ? null : agentId, projectId: null, channel: null };
  return {
    ids: () => memoryIds(scope, wiring),
    memories: (ids) => store.memories.get(ids, scope),
    embed: (text) => embedder.embedQuery(text),
    nearest: (query, limit) => nearestMemories(query, limit, scope, wiring),
    cosines: (ids, query) => {
      const cosines = vectorSource(wiring)?.cosinesOf(
        ids.map((id) => recordKey("mem", id)),
        query,
      );
      return new Map(Array.from(cosines ?? [], ([key, cosine]) => [recordOfKey(key).id, cosine]));
    },
    confidence: confidenceOf(scope, wiring),
    documentFrequencies: (terms) => store.lexical.documentFrequencies(terms),
  };
}

/** Ascending. Read in steps: a large store has hundreds of thousands. */
async function memoryIds(scope: ReadScope, { store }: Wiring): Promise<number[]> {
  const ids: number[] = [];
  for (let before: number | null = null; ; ) {
    const step = store.memories.idsBelow(scope, before);
    for (const id of step.ids) ids.push(id);
    if (step.next === null) return ids.reverse();
    before = step.next;
    await nextTurn();
  }
}

function confidenceOf(
  scope: ReadScope,
  { config, clock, store, embedder }: Wiring,
): CalibrateParts["confidence"] {
  const settings = config.recall.confidence;
  if (!settings.enabled) return null;
  const context = { now: clock.now(), span: store.memories.span(scope), deep: false };
  return (memory, cosine) =>
    confidence(
      {
        cosine: calibratedCosine(embedder.card, cosine),
        instant: parseInstant(memory.timestamp),
        resolved: false,
        recallCount: 0,
        lastRecalled: null,
      },
      context,
      settings,
    ).score;
}

async function nearestMemories(
  query: Float32Array,
  limit: number,
  scope: ReadScope,
  wiring: Wiring,
): Promise<{ id: number; cosine: number }[]> {
  const found = await wiring.searches.open()?.search({
    query,
    scopes: wiring.store.pool(scope).codes,
    near: null,
    far: null,
    nearLimit: limit,
    farLimit: 0,
    floor: -1,
    only: null,
    masked: null,
    method: "auto",
  });
  if (found === undefined) return [];
  const hits = Array.from(found.keys, (key, i) => ({ ...recordOfKey(key), cosine: found.scores[i] ?? 0 }));
  return hits.filter(({ kind }) => kind === "mem");
}
