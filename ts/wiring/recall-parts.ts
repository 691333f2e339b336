// Store, embedder and native core as the parts that a recall works with.

import type { Config } from "../config.js";
import { dot } from "../domain/dot.js";
import { recordKey } from "../domain/record.js";
import type { ReadScope } from "../domain/scope.js";
import { type Embedder, identityKey } from "../embedding/embedder.js";
import type { CalibrationStore } from "../maintenance/calibration.js";
import { QuickLevels } from "../maintenance/quick-level.js";
import type { NativeCore } from "../native/contract.js";
import type { RecallParts } from "../recall/recall-parts.js";
import type { VectorSource } from "../recall/retrievers/vector.js";
import type { Store } from "../store/store.js";
import type { Supervisor } from "../supervisor.js";
import { embedderCode } from "./embedder-code.js";
import type { QuestionDirectionStore } from "./question-directions.js";
import type { RemoteParts } from "./remote-parts.js";
import type { VectorSearches } from "./vector-searches.js";

export interface Wiring {
  readonly config: Config;
  readonly clock: { now(): number };
  readonly core: NativeCore;
  readonly store: Store;
  readonly embedder: Embedder;
  readonly searches: VectorSearches;
  readonly calibrations: CalibrationStore;
  /** null in mode local */
  readonly remote: RemoteParts | null;
  /** background work runs under it */
  readonly supervisor: Supervisor;
  readonly questions: QuestionDirectionStore;
}

export function recallParts(wiring: Wiring): RecallParts {
  const { config, clock, core, store, embedder } = wiring;
  const { memories, episodes } = store;
  return {
    config,
    clock,
    embedder,
    questionDirections: () => wiring.questions.current(),
    fusion: core.fusion,
    lexical: store.lexical,
    vectors: () => vectorSource(wiring),
    remote: wiring.remote?.vectors ?? null,
    levels: levelsOf(wiring),
    pool: (scope) => store.pool(scope),
    memoriesById: (ids, scope, source) => memories.get(ids, scope, source),
    episodesById: (ids, scope) => episodes.get(ids, scope),
    memoryKeysBySource: (scope, source, limit) =>
      Float64Array.from(memories.idsBySource(scope, source, limit), (id) => recordKey("mem", id)),
    excludedKeys: (scope) => excludedKeys(store, scope),
    newestMemories: (scope, source, limit, offset) => memories.newest(scope, source, limit, offset),
    neighbours: (ids, gapMs) => memories.neighbours(ids, gapMs),
    newestEpisodeAt: (scope) => episodes.newestCreatedAt(scope),
    memorySpan: (scope) => memories.span(scope),
    profile: (agentId) => store.profiles.get(agentId),
    uses: (keys) => store.uses.get(keys),
  };
}

/** Calibrated levels; while there are none that hold, and without a card, the rows themselves give the scale. */
function levelsOf(wiring: Wiring): RecallParts["levels"] {
  const { config, store, embedder, calibrations, questions } = wiring;
  const quick = new QuickLevels({
    identity: () => {
      const identity = embedder.identity();
      return identity === null ? "" : identityKey(identity);
    },
    questions: () => {
      const directions = questions.current();
      return directions === null ? null : [directions.latin, directions.japanese];
    },
    spreadVectors: (agentId, count, among) => {
      const code = embedderCode(wiring);
      if (code === null) return [];
      const scope = { agentId: agentId === "" ? null : agentId, projectId: null, channel: null };
      const keys = store.memories.spreadIds(scope, count, among).map((id) => recordKey("mem", id));
      const vectors = store.embeddings.vectorsOf(keys, code);
      return keys.flatMap((key) => vectors.get(key)?.slice(0, 1) ?? []);
    },
  });
  return ({ agentId }) => {
    const agent = agentId ?? "";
    const { memories } = store.pool({ agentId, projectId: null, channel: null });
    const { automatic, beta } = config.calibration;
    // Somebody who calibrates by hand is not overruled.
    const levels = calibrations.levels(agent, beta, automatic ? memories : null);
    if (embedder.card.unrelatedCosine !== null) return levels;
    // Calibration asks sentences of the store itself; questions are further from its rows.
    if (levels.unrelated !== null && questions.current() === null) return levels;
    return { ...levels, unrelated: quick.unrelated(agent, memories) ?? levels.unrelated };
  };
}

/** Null where no tag excludes anything, so that the search need not look. */
function excludedKeys({ memories }: Store, scope: ReadScope): Float64Array | null {
  if ((scope.excludeTags ?? []).length === 0) return null;
  return Float64Array.from(memories.idsExcludedByTags(scope), (id) => recordKey("mem", id));
}

export function vectorSource(wiring: Wiring): VectorSource | null {
  const { store, searches } = wiring;
  const search = searches.open();
  const code = embedderCode(wiring);
  if (search === null || code === null) return null;
  return {
    search: (query) => search.search(query),
    cosinesOf: (keys, query) => bestCosines(store.embeddings.vectorsOf(keys, code), query),
    blocksOf: (keys) => store.embeddings.blocksOf(keys, code),
    memoryPosition: (scope, position) => store.memories.positionFromNewest(scope, position),
    episodePosition: (scope, position) => store.episodes.positionFromNewest(scope, position),
  };
}

/** The cosine of each record's nearest block. */
function bestCosines(
  vectors: ReadonlyMap<number, readonly Float32Array[]>,
  query: Float32Array,
): Map<number, number> {
  return new Map(
    Array.from(vectors, ([key, blocks]) => [key, Math.max(...blocks.map((block) => dot(block, query)))]),
  );
}
