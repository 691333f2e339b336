// The nearest records of a scope from a service that knows only whose they are. Project, channel and source are
// looked at afterwards, so it is asked for more until the list is full or the service has no more.

import { parseRef, recordKey } from "../domain/record.js";
import { describeError } from "../errors.js";

/** The service, see `embedding/remote-index.ts`. */
export interface RemoteService {
  search(
    agentId: string,
    query: string,
    options: { readonly limit: number; readonly minSimilarity: number; readonly timeoutMs: number },
  ): Promise<readonly { readonly ref: string; readonly score: number }[]>;
}

export interface RemoteQuery {
  readonly agentId: string;
  readonly query: string;
  /** most records in the answer */
  readonly limit: number;
  /** rows of the scope and of all the agent: tells how deep a full list lies */
  readonly scopeRows: number;
  readonly agentRows: number;
  /** cosine below which a record is no candidate */
  readonly floor: number;
  /** the keys among these that the scope lets be seen */
  readonly visible: (keys: ReadonlySet<number>) => ReadonlySet<number>;
}

export interface RemoteResult {
  /** best first; equal cosines: the larger key, which is the newer record */
  readonly hits: readonly { readonly key: number; readonly cosine: number }[];
  /** the service answered less than the agent has, and the list is not full: rows of the scope may be missing */
  readonly isShort: boolean;
  /** the list may lack records because of this; null when it does not */
  readonly failure: string | null;
}

/** Deepest list that is asked for: some megabytes of refs. */
const MAX_DEPTH = 32_768;

/** Never rejects. `timeoutMs` is for all questions of the search together. */
export async function searchRemotely(
  request: RemoteQuery,
  service: RemoteService,
  timeoutMs: number,
): Promise<RemoteResult> {
  const { agentId, query, limit, floor } = request;
  const end = performance.now() + timeoutMs;
  const known = new Map<number, boolean>();
  let hits: RemoteResult["hits"] = [];
  for (let depth = firstDepth(request); ; depth = Math.min(depth * 2, MAX_DEPTH)) {
    try {
      const left = end - performance.now();
      if (left < 1) throw new Error(`no full list in ${timeoutMs} ms`);
      const options = { limit: depth, minSimilarity: floor, timeoutMs: Math.ceil(left) };
      const found = await service.search(agentId, query, options);
      hits = visibleHits(found, request, known);
      if (hits.length >= limit || found.length < depth || depth >= MAX_DEPTH)
        return {
          hits: hits.slice(0, limit),
          isShort: isShort(found.length, hits.length, request),
          failure: null,
        };
    } catch (error) {
      return { hits: hits.slice(0, limit), isShort: true, failure: describeError(error) };
    }
  }
}

/** Some services cap every answer (CEmbedding at 500), some have not been given all rows yet. */
function isShort(found: number, hits: number, { limit, scopeRows, agentRows }: RemoteQuery): boolean {
  return hits < Math.min(limit, scopeRows) && found < agentRows;
}

/** Where the scope is a part of the agent's rows, as many more are asked for at once. */
function firstDepth({ limit, scopeRows, agentRows }: RemoteQuery): number {
  const share = scopeRows > 0 ? Math.max(1, agentRows / scopeRows) : 1;
  return Math.min(MAX_DEPTH, Math.max(limit, Math.min(Math.ceil(limit * share), agentRows)));
}

/** `known` remembers which keys may be seen: every round brings those of the round before again. */
function visibleHits(
  found: Awaited<ReturnType<RemoteService["search"]>>,
  { floor, visible }: RemoteQuery,
  known: Map<number, boolean>,
): { key: number; cosine: number }[] {
  const hits = found.flatMap(({ ref, score }) => {
    // What others keep there under the same name is none of ours.
    const record = parseRef(ref);
    return record === null || score < floor
      ? []
      : [{ key: recordKey(record.kind, record.id), cosine: score }];
  });
  const fresh = new Set(hits.map(({ key }) => key).filter((key) => !known.has(key)));
  const seen = fresh.size === 0 ? fresh : visible(fresh);
  for (const key of fresh) known.set(key, seen.has(key));
  return hits
    .filter(({ key }) => known.get(key) === true)
    .sort((a, b) => b.cosine - a.cosine || b.key - a.key);
}
