// Recall, top to bottom:
//   query -> lists (near and far vectors, words of episodes and memories) -> rows, without excluded ones
//         -> fusion -> gate -> cut to limit -> best last
// Nothing is written before or after: a recall changes no ranking.

import type { Config } from "../config.js";
import { EPISODE_LABEL, type Episode, type Memory } from "../domain/memory.js";
import { recordKey, recordOfKey } from "../domain/record.js";
import { type ReadScope, type SourceFilter, sourceFilter } from "../domain/scope.js";
import { calibratedCosine, type Embedder } from "../embedding/embedder.js";
import { describeError } from "../errors.js";
import type { Fusion } from "../native/contract.js";
import type { ScopePool } from "../store/scopes.js";
import type { Candidate, Hit, MatchReason, RecordRow } from "./candidate.js";
import { exclusion } from "./exclude.js";
import { cascadeLists, fuseLists, type RetrievedLists } from "./fuse.js";
import { applyGate, type GateLevels } from "./quality-gate.js";
import { type LexicalSource, planLexicalQuery, retrieveLexical } from "./retrievers/lexical.js";
import { retrieveByVector, type VectorLists, type VectorSource } from "./retrievers/vector.js";

export interface RecallRequest {
  readonly query: string;
  readonly scope: ReadScope;
  /** most rows in the answer; clamped to the scan window */
  readonly limit: number;
  /** restricts memories by the id of their source; null or "" restricts nothing */
  readonly sourceId: string | null;
  /** texts the caller holds already */
  readonly excludeContents: readonly string[];
  /** asks for more: halves the gate */
  readonly deep: boolean;
}

export interface RecallOutcome {
  /** ascending relevance: the last row is the best */
  readonly hits: readonly Hit[];
  /** why the search by meaning did not take part; absent when it did */
  readonly degraded?: string;
}

/** The parts a recall works with. */
export interface RecallParts {
  readonly config: Config;
  readonly embedder: Embedder;
  readonly fusion: Fusion;
  readonly lexical: LexicalSource;
  /** null when the embedder's vectors cannot be searched (off, or not known yet) */
  readonly vectors: () => VectorSource | null;
  readonly pool: (scope: ReadScope) => ScopePool;
  readonly memoriesById: (ids: readonly number[], scope: ReadScope, source: SourceFilter | null) => Memory[];
  readonly episodesById: (ids: readonly number[], scope: ReadScope) => Episode[];
  /** keys of the newest memories of a source, ascending */
  readonly memoryKeysBySource: (scope: ReadScope, source: SourceFilter, limit: number) => Float64Array;
  readonly newestMemories: (scope: ReadScope, source: SourceFilter | null, limit: number) => Memory[];
}

/** More entries than this are not compensated for by longer lists. */
const MAX_EXTRA_DEPTH = 200;

export async function recall(request: RecallRequest, parts: RecallParts): Promise<RecallOutcome> {
  const { config } = parts;
  const limit = Math.min(request.limit, config.recall.window);
  const isExcluded = exclusion(request.excludeContents);
  const source = sourceFilter(request.sourceId);
  if (limit <= 0) return { hits: [] };
  if (request.query.trim() === "") return { hits: newest(request, source, limit, isExcluded, parts) };

  const depth = Math.max(limit, config.recall.depthFloor);
  const fetched = depth + Math.min(request.excludeContents.length, MAX_EXTRA_DEPTH);
  const { lists, degraded } = await retrieve(request, source, fetched, parts);
  const rows = readRows(lists, request.scope, source, parts);
  const kept = dropRows(lists, depth, (key) => {
    const row = rows.get(key);
    return row === undefined || isExcluded(rowText(row));
  });
  const ranked = rank(kept, parts);
  const passed = applyGate(ranked, gateLevels(request.deep, parts), (raw) =>
    calibratedCosine(parts.embedder.card, raw),
  );
  const hits = passed.slice(0, limit).map((candidate) => toHit(candidate, rows));
  return { hits: hits.reverse(), ...(degraded === null ? {} : { degraded }) };
}

/** An empty query asks for the newest memories. */
function newest(
  request: RecallRequest,
  source: SourceFilter | null,
  limit: number,
  isExcluded: (text: string) => boolean,
  parts: RecallParts,
): Hit[] {
  const fetched = limit + Math.min(request.excludeContents.length, MAX_EXTRA_DEPTH);
  const memories = parts
    .newestMemories(request.scope, source, fetched)
    .filter((memory) => !isExcluded(memory.content));
  return memories
    .slice(0, limit)
    .map((memory): Hit => ({ row: { kind: "mem", memory } }))
    .reverse();
}

async function retrieve(
  request: RecallRequest,
  source: SourceFilter | null,
  depth: number,
  parts: RecallParts,
): Promise<{ lists: RetrievedLists; degraded: string | null }> {
  // The embedder may be a server: it works while the words are searched.
  const pending = searchByMeaning(request, source, depth, parts);
  const plan = planLexicalQuery(request.query, parts.lexical);
  const memories = retrieveLexical("mem", plan, parts.lexical, request.scope, source, depth);
  const seesEpisodes = source === null || (request.scope.channel ?? "") !== "";
  const episodes = seesEpisodes ? retrieveLexical("ep", plan, parts.lexical, request.scope, null, depth) : [];
  const { lists, degraded } = await pending;
  return {
    lists: {
      ...lists,
      memories: memories.map((hit) => ({ ...hit, key: recordKey("mem", hit.id) })),
      episodes: episodes.map((hit) => ({ ...hit, key: recordKey("ep", hit.id) })),
    },
    degraded,
  };
}

const NO_VECTORS: VectorLists = { near: [], far: [] };

async function searchByMeaning(
  request: RecallRequest,
  source: SourceFilter | null,
  depth: number,
  parts: RecallParts,
): Promise<{ lists: VectorLists; degraded: string | null }> {
  if (parts.embedder.state().status === "off") return { lists: NO_VECTORS, degraded: "off" };
  try {
    const query = await parts.embedder.embedQuery(request.query);
    const vectors = parts.vectors();
    if (query === null || vectors === null) return { lists: NO_VECTORS, degraded: null };
    const only =
      source === null ? null : parts.memoryKeysBySource(request.scope, source, parts.config.recall.window);
    const pool = parts.pool(request.scope);
    const lists = await retrieveByVector(
      { query, scope: request.scope, pool, only, limit: depth, floor: -1 },
      vectors,
      parts.config.recall,
    );
    return { lists, degraded: null };
  } catch (error) {
    return { lists: NO_VECTORS, degraded: describeError(error) };
  }
}

/** The rows behind all list entries, as far as the scope lets them be seen. */
function readRows(
  lists: RetrievedLists,
  scope: ReadScope,
  source: SourceFilter | null,
  parts: RecallParts,
): Map<number, RecordRow> {
  const records = [...new Set(allHits(lists).map((hit) => hit.key))].map(recordOfKey);
  const ids = (kind: "mem" | "ep"): number[] =>
    records.filter((record) => record.kind === kind).map((record) => record.id);
  const rows = new Map<number, RecordRow>();
  for (const memory of parts.memoriesById(ids("mem"), scope, source))
    rows.set(recordKey("mem", memory.id), { kind: "mem", memory });
  const seesEpisodes = source === null || (scope.channel ?? "") !== "";
  for (const episode of seesEpisodes ? parts.episodesById(ids("ep"), scope) : [])
    rows.set(recordKey("ep", episode.id), { kind: "ep", episode });
  return rows;
}

function allHits(lists: RetrievedLists): readonly { readonly key: number }[] {
  return [...lists.near, ...lists.far, ...lists.episodes, ...lists.memories];
}

/** Takes rows out of every list and cuts each to `depth`. */
function dropRows(lists: RetrievedLists, depth: number, isDropped: (key: number) => boolean): RetrievedLists {
  const keep = <T extends { readonly key: number }>(list: readonly T[]): T[] =>
    list.filter((hit) => !isDropped(hit.key)).slice(0, depth);
  return {
    near: keep(lists.near),
    far: keep(lists.far),
    episodes: keep(lists.episodes),
    memories: keep(lists.memories),
  };
}

function rank(lists: RetrievedLists, { config, embedder, fusion }: RecallParts): Candidate[] {
  const { mode, rrfK } = config.recall;
  if (mode === "cascade") return cascadeLists(lists);
  return fuseLists(lists, fusion, { mode, rrfK, vectorWeight: embedder.card.fusionWeight });
}

function gateLevels(deep: boolean, { config, embedder }: RecallParts): GateLevels {
  const share = deep ? 0.5 : 1;
  const { unrelatedCosine } = embedder.card;
  const open = unrelatedCosine === null ? config.recall.minSimilarity : 0.62;
  const floor = unrelatedCosine === null ? config.recall.minSimilarity * 0.5 : 0.4;
  return { open: open * share, floor: floor * share };
}

export function rowText(row: RecordRow): string {
  return row.kind === "mem" ? row.memory.content : EPISODE_LABEL + row.episode.summary;
}

function toHit(candidate: Candidate, rows: ReadonlyMap<number, RecordRow>): Hit {
  const row = rows.get(candidate.key) as RecordRow;
  const reason = matchReason(candidate);
  return reason === null ? { row } : { row, matchReason: reason };
}

/** A row that no score keyed says nothing about one. */
function matchReason({ score, cosine }: Candidate): MatchReason | null {
  if (cosine !== undefined)
    return { signal: "cosine", score: cosine, cosine, ...(score === undefined ? {} : { rrf: score }) };
  return score === undefined ? null : { signal: "rrf", score, rrf: score };
}
