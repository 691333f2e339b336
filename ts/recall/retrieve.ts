// Query -> ranked lists of records the scope may see, with their rows, without those the caller holds already.

import { recordKey, recordOfKey } from "../domain/record.js";
import { type ReadScope, type SourceFilter, sourceFilter } from "../domain/scope.js";
import { nextTurn } from "../next-turn.js";
import { type RecordRow, rowText } from "./candidate.js";
import { exclusion } from "./exclude.js";
import { listKeys, type RetrievedLists } from "./fuse.js";
import type { RecallParts, RecallRequest } from "./recall-parts.js";
import {
  completeList,
  type LexicalQuery,
  planLexicalQuery,
  retrieveLexical,
  rowsOfIdentifiers,
} from "./retrievers/lexical.js";
import { type Degraded, searchByMeaning } from "./retrievers/meaning.js";
import { StageClock } from "./trace.js";

export interface Retrieved {
  readonly lists: RetrievedLists;
  /** rows read so far: all of the lists where texts are excluded, else none */
  readonly rows: ReadonlyMap<number, RecordRow>;
  readonly plan: LexicalQuery;
  /** rows whose text holds an exact identifier of the query, alone or inside a longer name */
  readonly exactKeys: ReadonlySet<number>;
  /** the query's vector, unit norm; null when it has none */
  readonly queryVector: Float32Array | null;
  readonly degraded: Degraded | null;
}

/** Rows fetched beyond the depth of the lists when texts are excluded; multiplied as long as that is too few. */
const FIRST_EXTRA_DEPTH = 32;
const EXTRA_DEPTH_GROWTH = 8;

/** One entry may exclude any number of rows, so the lists are fetched deeper until they are full or dry. */
export async function retrieve(
  request: RecallRequest,
  limit: number,
  parts: RecallParts,
  clock = new StageClock(),
): Promise<Retrieved> {
  if (request.excludeContents.length === 0)
    return (await retrieveWith(0, request, limit, parts, clock)).retrieved;
  for (let extra = FIRST_EXTRA_DEPTH; ; extra *= EXTRA_DEPTH_GROWTH) {
    const { retrieved, isShort } = await retrieveWith(extra, request, limit, parts, clock);
    if (!isShort || extra >= parts.config.recall.window) return retrieved;
  }
}

/** `isShort`: exclusions left a list shorter than it may be, and there are more rows to fetch. */
async function retrieveWith(
  extra: number,
  request: RecallRequest,
  limit: number,
  parts: RecallParts,
  clock: StageClock,
): Promise<{ retrieved: Retrieved; isShort: boolean }> {
  const { depthFloor, lexicalDepth } = parts.config.recall;
  const source = sourceFilter(request.sourceId);
  const vectorDepth = Math.max(limit, depthFloor);
  const wordDepth = Math.max(vectorDepth, lexicalDepth);
  // The embedder may be a server, and the index has its own thread: both work while the words are searched, once
  // this thread has let their requests go.
  const withEpisodes = seesEpisodes(request.scope, source);
  const pending = searchByMeaning({ request, source, withEpisodes, depth: vectorDepth + extra }, parts);
  await nextTurn();
  clock.mark("ask for vectors", 0);
  const plan = planLexicalQuery(request.query, parts.lexical);
  const { scope } = request;
  const depth = wordDepth + extra;
  const memories = retrieveLexical("mem", plan, parts.lexical, scope, source, depth);
  const episodes = withEpisodes ? retrieveLexical("ep", plan, parts.lexical, scope, null, depth) : [];
  const exact = {
    memories: rowsOfIdentifiers("mem", plan, parts.lexical, scope, source),
    episodes: withEpisodes ? rowsOfIdentifiers("ep", plan, parts.lexical, scope, null) : [],
  };
  clock.mark("words", memories.length + episodes.length);
  const { vectors, queryVector, degraded } = await pending;
  clock.mark("wait for vectors", vectors.near.length + vectors.far.length);
  const found: RetrievedLists = {
    ...vectors,
    memories: completeList(memories, exact.memories),
    episodes: completeList(episodes, exact.episodes),
  };
  const exactKeys = new Set([
    ...exact.memories.map(({ id }) => recordKey("mem", id)),
    ...exact.episodes.map(({ id }) => recordKey("ep", id)),
  ]);
  const base = { plan, exactKeys, queryVector, degraded };
  if (extra === 0) return { retrieved: { ...base, lists: found, rows: new Map() }, isShort: false };
  const rows = readRows(found, request.scope, source, parts);
  const isExcluded = exclusion(request.excludeContents);
  const keep = <Hit>(hits: readonly Hit[], keyOf: (hit: Hit) => number): Hit[] =>
    hits.filter((hit) => {
      const row = rows.get(keyOf(hit));
      return row !== undefined && !isExcluded(rowText(row));
    });
  const near = keep(found.near, (hit) => hit.key);
  const words = keep(found.memories, (hit) => recordKey("mem", hit.id));
  const lists: RetrievedLists = {
    near: near.slice(0, vectorDepth),
    far: keep(found.far, (hit) => hit.key).slice(0, vectorDepth),
    episodes: keep(episodes, (hit) => recordKey("ep", hit.id)).slice(0, wordDepth),
    memories: completeList(
      words.slice(0, wordDepth),
      words.filter(({ id }) => exactKeys.has(recordKey("mem", id))),
    ),
  };
  const isShort =
    (near.length < vectorDepth && found.near.length === vectorDepth + extra) ||
    (words.length < wordDepth && memories.length === wordDepth + extra);
  return { retrieved: { ...base, lists, rows }, isShort };
}

/** Episodes name no source, so a source filter hides them unless a channel places them. */
function seesEpisodes(scope: ReadScope, source: SourceFilter | null): boolean {
  return source === null || (scope.channel ?? "") !== "";
}

function readRows(
  lists: RetrievedLists,
  scope: ReadScope,
  source: SourceFilter | null,
  parts: RecallParts,
): Map<number, RecordRow> {
  const names = ["near", "far", "episodes", "memories"] as const;
  return rowsOfKeys(new Set(names.flatMap((name) => listKeys(lists, name))), scope, source, parts);
}

/** The rows behind record keys, as far as scope and source filter let them be seen. */
export function rowsOfKeys(
  keys: ReadonlySet<number>,
  scope: ReadScope,
  source: SourceFilter | null,
  parts: RecallParts,
): Map<number, RecordRow> {
  const records = Array.from(keys, recordOfKey);
  const ids = (kind: "mem" | "ep"): number[] =>
    records.filter((record) => record.kind === kind).map((record) => record.id);
  const rows = new Map<number, RecordRow>();
  for (const memory of parts.memoriesById(ids("mem"), scope, source)) {
    rows.set(recordKey("mem", memory.id), { kind: "mem", memory });
  }
  const episodes = seesEpisodes(scope, source) ? parts.episodesById(ids("ep"), scope) : [];
  for (const episode of episodes) rows.set(recordKey("ep", episode.id), { kind: "ep", episode });
  return rows;
}
