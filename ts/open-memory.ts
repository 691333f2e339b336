// Builds the parts and wires them: settings -> native core, embedder, store, vector search -> service.

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { type Config, readConfig } from "./config.js";
import { recordKey } from "./domain/record.js";
import { type Embedder, identityKey } from "./embedding/embedder.js";
import { openEmbedder } from "./embedding/open-embedder.js";
import { log, setLogLevel } from "./log.js";
import type { NativeCore } from "./native/contract.js";
import { openCore } from "./native/core.js";
import { twinCore } from "./native/twin/core.js";
import type { RecallParts } from "./recall/recall-parts.js";
import type { VectorSource } from "./recall/retrievers/vector.js";
import { textEmbedder } from "./remember/embed-text.js";
import { MemoryService } from "./service/memory-service.js";
import type { Environment } from "./setting-reader.js";
import { Store } from "./store/store.js";
import { type VectorSource as StoredVectors, VectorSearch } from "./vectors/vector-search.js";

export interface OpenMemoryOptions {
  /** database file; default `CPERSONA_DB_PATH`, else the user's data directory */
  readonly databasePath?: string;
  /** settings by their environment names; default `process.env` */
  readonly environment?: Environment;
  /** milliseconds since the epoch; default the system clock */
  readonly clock?: { now(): number };
}

/**
 * Opens a memory for use inside this process. Close it when done.
 * Throws `invalid_setting`, `driver_missing`, `schema_mismatch` or `storage_unavailable`.
 */
export async function openMemory(options: OpenMemoryOptions = {}): Promise<MemoryService> {
  const environment = options.environment ?? process.env;
  const config = readConfig(
    options.databasePath === undefined
      ? environment
      : { ...environment, CPERSONA_DB_PATH: options.databasePath },
  );
  return openService(config, options.clock ?? { now: () => Date.now() });
}

/** The same from settings that are read already. */
export function openService(config: Config, clock: { now(): number }): MemoryService {
  setLogLevel(config.logLevel);
  for (const warning of config.warnings) log("warn", warning);
  const { core, notice } = openCore({
    mode: config.native.mode,
    simd: config.native.simd === "auto" ? undefined : config.native.simd,
  });
  if (notice !== null) log("warn", notice);
  const store = Store.open(config.database);
  const embedder = openEmbedder(config.embedding, { core, clock });
  const vectorSearch = vectorSearches(config, core, store, embedder);
  return new MemoryService({
    config,
    clock,
    store,
    embedder,
    embedText: textEmbedder(embedder),
    recallParts: recallParts({ config, clock, core, store, embedder, vectorSearch }),
    vectorSearch,
    close: async () => {
      embedder.close();
      await vectorSearch()?.close();
      store.close();
    },
  });
}

/** One vector search, opened when the embedder's identity is known and vectors are first asked for. */
function vectorSearches(
  config: Config,
  core: NativeCore,
  store: Store,
  embedder: Embedder,
): () => VectorSearch | null {
  let open: VectorSearch | null = null;
  return () => {
    if (open !== null) return open;
    const identity = embedder.state().status === "off" ? null : embedder.identity();
    if (identity === null) return null;
    const key = identityKey(identity);
    const code = store.embeddings.embedderCode(key, identity.dimension);
    const name = createHash("sha256").update(`${store.databaseId()}\n${key}`).digest();
    const { dimension } = identity;
    const index = core.openVectorIndex({
      folder: indexFolder(config.database.path, name),
      dimension,
      identity: name.subarray(0, 16),
      centre: embedder.card.centre,
    });
    const source: StoredVectors = {
      lastSequence: () => store.embeddings.lastSequence(),
      firstSequence: () => store.embeddings.firstSequence(),
      changedAfter: (after, until) => store.embeddings.changedAfter(after, until),
      rowsOf: (keys) => store.embeddings.rowsOf(keys, code, dimension),
      rowsAfter: (afterId, limit) => store.embeddings.rowsAfter(afterId, code, dimension, limit),
    };
    const scratch = { folder: null, dimension, identity: name.subarray(0, 16), centre: null };
    open = new VectorSearch(index, source, {
      inMemory: core.kind === "twin",
      openScratch: () => twinCore.openVectorIndex(scratch),
    });
    return open;
  };
}

/** Index files lie beside the database, one folder an identity; a database in memory has none. */
function indexFolder(databasePath: string, name: Buffer): string | null {
  if (databasePath === ":memory:") return null;
  return join(
    dirname(databasePath),
    `${databasePath.split(/[\\/]/).pop()}.vectors`,
    name.toString("hex").slice(0, 16),
  );
}

interface Wiring {
  readonly config: Config;
  readonly clock: { now(): number };
  readonly core: NativeCore;
  readonly store: Store;
  readonly embedder: Embedder;
  readonly vectorSearch: () => VectorSearch | null;
}

function recallParts(wiring: Wiring): RecallParts {
  const { config, clock, core, store, embedder } = wiring;
  const { memories, episodes } = store;
  return {
    config,
    clock,
    embedder,
    fusion: core.fusion,
    lexical: store.lexical,
    vectors: () => toVectorSource(wiring),
    levels: () => ({ cosine: null, confidence: null }),
    pool: (scope) => store.pool(scope),
    memoriesById: (ids, scope, source) => memories.get(ids, scope, source),
    episodesById: (ids, scope) => episodes.get(ids, scope),
    memoryKeysBySource: (scope, source, limit) =>
      Float64Array.from(memories.idsBySource(scope, source, limit), (id) => recordKey("mem", id)),
    newestMemories: (scope, source, limit) => memories.newest(scope, source, limit),
    neighbours: (ids, gapMs) => memories.neighbours(ids, gapMs),
    newestEpisodeAt: (scope) => episodes.newestCreatedAt(scope),
    memorySpan: (scope) => memories.span(scope),
    profile: (agentId) => store.profiles.get(agentId),
    uses: (keys) => store.uses.get(keys),
  };
}

function toVectorSource({ store, embedder, vectorSearch }: Wiring): VectorSource | null {
  const search = vectorSearch();
  const identity = embedder.identity();
  if (search === null || identity === null) return null;
  const code = store.embeddings.embedderCode(identityKey(identity), identity.dimension);
  return {
    search: (query) => search.search(query),
    cosinesOf: (keys, query) => bestCosines(store.embeddings.vectorsOf(keys, code), query),
    memoryPosition: (scope, position) => store.memories.positionFromNewest(scope, position),
    episodePosition: (scope, position) => store.episodes.positionFromNewest(scope, position),
  };
}

/** The cosine of each record's nearest block. */
function bestCosines(
  vectors: ReadonlyMap<number, readonly Float32Array[]>,
  query: Float32Array,
): Map<number, number> {
  const dot = (vector: Float32Array): number =>
    vector.reduce((sum, value, i) => sum + value * (query[i] ?? 0), 0);
  return new Map(Array.from(vectors, ([key, blocks]) => [key, Math.max(...blocks.map(dot))]));
}
