// Candidates by meaning, from the index here or from a vector service, and what was missing on the way.

import type { ReadScope, SourceFilter } from "../../domain/scope.js";
import { withoutQuestionDirection } from "../../embedding/question-direction.js";
import { describeError } from "../../errors.js";
import type { RemoteResult } from "../../vectors/remote-search.js";
import type { RecallParts, RecallRequest } from "../recall-parts.js";
import { retrieveByVector, type VectorHit, type VectorLists } from "./vector.js";

/** Why a search by meaning was less than whole. */
export interface Degraded {
  /**
   * `off`: no embedder is wanted; `words_only`: it failed; `local_vectors`: the vector service failed, the index
   * here answered; `newest_vectors`: the index is made anew, and older rows were not looked at
   */
  readonly what: "off" | "words_only" | "local_vectors" | "newest_vectors";
  /** one sentence, free of addresses and keys; for `off` the word itself */
  readonly reason: string;
}

/** A vector service that stands in for the index here. */
export interface RemoteVectors {
  /** vectors are kept in the database too */
  readonly storesVectors: boolean;
  search(query: RemoteVectorQuery): Promise<RemoteResult>;
}

export interface RemoteVectorQuery {
  readonly agentId: string;
  readonly query: string;
  /** most records in the answer */
  readonly limit: number;
  /** raw cosine below which a record is no candidate */
  readonly floor: number;
  readonly scope: ReadScope;
  readonly source: SourceFilter | null;
  readonly withEpisodes: boolean;
}

export interface MeaningQuery {
  readonly request: RecallRequest;
  readonly source: SourceFilter | null;
  readonly withEpisodes: boolean;
  /** most rows of each list */
  readonly depth: number;
}

export interface MeaningSearch {
  readonly vectors: VectorLists;
  /** the query's vector, unit norm; null when it has none or only the service has it */
  readonly queryVector: Float32Array | null;
  readonly degraded: Degraded | null;
}

const NOTHING = { vectors: { near: [], far: [] }, queryVector: null } as const;
const NOTHING_HERE: MeaningSearch = { ...NOTHING, degraded: null };
const NEWEST_ONLY: Degraded = { what: "newest_vectors", reason: "the vector index is made anew" };
/** Whatever the service finds is a candidate: the gate judges. */
const FLOOR = -1;

export async function searchByMeaning(query: MeaningQuery, parts: RecallParts): Promise<MeaningSearch> {
  if (parts.embedder.state().status === "off")
    return { ...NOTHING, degraded: { what: "off", reason: "off" } };
  const { remote } = parts;
  const { agentId } = query.request.scope;
  return remote === null || agentId === null
    ? searchHere(query, parts, parts.embedder.embedQuery(query.request.query))
    : searchAtService(query, agentId, remote, parts);
}

/**
 * The service ranks all that the agent has: window, reach and the far list are of the index here. Where it fails
 * or gives too little, the vectors kept here complete the list.
 */
async function searchAtService(
  query: MeaningQuery,
  agentId: string,
  remote: RemoteVectors,
  parts: RecallParts,
): Promise<MeaningSearch> {
  const { request, source, withEpisodes, depth } = query;
  const { scope } = request;
  // Passages and confidence look at stored vectors, and so does the search here when the service fails.
  const pending = remote.storesVectors ? parts.embedder.embedQuery(request.query) : null;
  pending?.catch(() => {});
  const wanted = { agentId, query: request.query, limit: depth, floor: FLOOR, scope, source, withEpisodes };
  const found = await remote.search(wanted);
  const hits = found.hits.map((hit) => ({ ...hit, score: hit.cosine, block: 0 }));
  const isWhole = found.failure === null && !(found.isShort && remote.storesVectors);
  if (isWhole) {
    const queryVector = (await pending?.catch(() => null)) ?? null;
    return { vectors: { near: hits, far: [] }, queryVector, degraded: null };
  }
  // Without vectors here there is nothing to search, and no reason to wait for the embedder too.
  const here = pending === null ? NOTHING_HERE : await searchHere(query, parts, pending);
  const near = hits.length === 0 ? here.vectors.near : best([...hits, ...here.vectors.near], depth);
  const vectors: VectorLists = { near, far: found.failure === null ? [] : here.vectors.far };
  if (found.failure === null) return { vectors, queryVector: here.queryVector, degraded: null };
  const isFound = pending !== null && here.degraded?.what !== "words_only" && near.length > 0;
  return {
    vectors,
    queryVector: here.queryVector,
    degraded: { what: isFound ? "local_vectors" : "words_only", reason: found.failure },
  };
}

/** Each record by its better cosine, best first; equal ones: the larger key, which is the newer record. */
function best(hits: readonly VectorHit[], limit: number): VectorHit[] {
  const byKey = new Map<number, VectorHit>();
  for (const hit of hits) {
    const known = byKey.get(hit.key);
    if (known === undefined || hit.cosine > known.cosine) byKey.set(hit.key, hit);
  }
  return [...byKey.values()].sort((a, b) => b.cosine - a.cosine || b.key - a.key).slice(0, limit);
}

async function searchHere(
  { request, source, depth }: MeaningQuery,
  parts: RecallParts,
  pending: Promise<Float32Array | null>,
): Promise<MeaningSearch> {
  try {
    const queryVector = await pending;
    const search = parts.vectors();
    if (queryVector === null || search === null) return { ...NOTHING, degraded: null };
    const { scope } = request;
    const only = source === null ? null : parts.memoryKeysBySource(scope, source, parts.config.recall.window);
    // The window counts all rows of the scope; excluded ones are masked.
    const whole: ReadScope = { ...scope, excludeTags: undefined };
    const { isPartial, ...vectors } = await retrieveByVector(
      {
        query: queryVector,
        searched: searchVector(queryVector, request, parts),
        scope: whole,
        pool: parts.pool(scope),
        only,
        limit: depth,
        floor: FLOOR,
        masked: parts.excludedKeys(scope),
      },
      search,
      parts.config.recall,
    );
    return { vectors, queryVector, degraded: isPartial ? NEWEST_ONLY : null };
  } catch (error) {
    return { ...NOTHING, degraded: { what: "words_only", reason: describeError(error) } };
  }
}

/** Cascade orders by the cosine that it shows. */
function searchVector(query: Float32Array, { query: text }: RecallRequest, parts: RecallParts): Float32Array {
  const directions = parts.config.recall.mode === "cascade" ? null : parts.questionDirections();
  return directions === null ? query : withoutQuestionDirection(query, text, directions);
}
