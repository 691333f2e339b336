// Candidates by meaning: the near list (the scan window) and the far list (between window and reach).

import { recordKey } from "../../domain/record.js";
import type { ReadScope } from "../../domain/scope.js";
import { storageTimeMs } from "../../domain/time.js";
import type { AgeCut } from "../../native/contract.js";
import type { RecallConfig } from "../../settings/recall.js";
import type { EmbeddedBlock } from "../../store/embeddings.js";
import type { ScopePool } from "../../store/scopes.js";
import type { VectorAnswer, VectorQuery } from "../../vectors/vector-search.js";

export interface VectorHit {
  readonly key: number;
  /** what ranked it: the dot product of its best block with the search vector */
  readonly score: number;
  /** raw cosine of the record's best block */
  readonly cosine: number;
  readonly block: number;
}

export interface VectorLists {
  readonly near: readonly VectorHit[];
  readonly far: readonly VectorHit[];
}

/** Where a scope's row stands, counted from the newest; null past the end. */
export type PositionFromNewest = (
  scope: ReadScope,
  position: number,
) => { createdAt: string; id: number } | null;

export interface VectorSource {
  search(query: VectorQuery): Promise<VectorAnswer>;
  /** cosine of each record's best block with the query, for records that have a vector */
  cosinesOf(keys: readonly number[], query: Float32Array): Map<number, number>;
  /** the stored blocks of these records, in text order, for records that have vectors */
  blocksOf(keys: readonly number[]): Map<number, EmbeddedBlock[]>;
  memoryPosition: PositionFromNewest;
  episodePosition: PositionFromNewest;
}

export interface VectorRequest {
  /** the question's unit vector */
  readonly query: Float32Array;
  /** what ranks the rows, unit norm: `query` itself, or a shift of it */
  readonly searched: Float32Array;
  readonly scope: ReadScope;
  readonly pool: ScopePool;
  /** ascending keys to which the search is restricted, or null */
  readonly only: Float64Array | null;
  readonly limit: number;
  /** raw cosine below which a row is no candidate */
  readonly floor: number;
  /** ascending keys that are left out, or null */
  readonly masked: Float64Array | null;
}

export async function retrieveByVector(
  request: VectorRequest,
  source: VectorSource,
  config: RecallConfig,
): Promise<VectorLists & Pick<VectorAnswer, "isPartial">> {
  const { window, reach, farLimit, mode } = config;
  const hasFar = reach > window && mode !== "cascade";
  const found = await source.search({
    query: request.searched,
    scopes: request.pool.codes,
    near: cutAt(window, request, source),
    far: hasFar ? (cutAt(reach, request, source) ?? EVERYTHING) : null,
    nearLimit: request.limit,
    farLimit: farLimit > 0 ? Math.min(request.limit, farLimit) : request.limit,
    floor: request.floor,
    only: request.only,
    masked: request.masked,
    method: "auto",
  });
  const cosines =
    request.searched === request.query ? null : source.cosinesOf(Array.from(found.keys), request.query);
  const hits = Array.from(found.keys, (key, i) => {
    const score = found.scores[i] ?? 0;
    return { key, score, cosine: cosines?.get(key) ?? score, block: found.blocks[i] ?? 0 };
  });
  const { nearCount, isPartial } = found;
  return { near: hits.slice(0, nearCount), far: hits.slice(nearCount), isPartial };
}

const EVERYTHING: AgeCut = Float64Array.of(Number.NEGATIVE_INFINITY, 0, Number.NEGATIVE_INFINITY, 0);

/** The oldest memory and episode among the newest `rows` of each; null when the scope holds no more than that. */
function cutAt(rows: number, { scope, pool }: VectorRequest, source: VectorSource): AgeCut | null {
  if (pool.memories <= rows && pool.episodes <= rows) return null;
  const memory = pool.memories > rows ? source.memoryPosition(scope, rows - 1) : null;
  const episode = pool.episodes > rows ? source.episodePosition(scope, rows - 1) : null;
  return Float64Array.of(
    memory === null ? Number.NEGATIVE_INFINITY : storageTimeMs(memory.createdAt),
    memory === null ? 0 : recordKey("mem", memory.id),
    episode === null ? Number.NEGATIVE_INFINITY : storageTimeMs(episode.createdAt),
    episode === null ? 0 : recordKey("ep", episode.id),
  );
}
