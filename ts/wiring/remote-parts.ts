// The vector service, its search and what is pushed to it; nothing of it in mode local.

import type { Config } from "../config.js";
import { type RecordKind, recordKey, recordOfKey } from "../domain/record.js";
import type { ReadScope, SourceFilter } from "../domain/scope.js";
import { type Embedder, identityKey } from "../embedding/embedder.js";
import { RemoteIndex } from "../embedding/remote-index.js";
import { RemotePush } from "../maintenance/remote-push.js";
import type { RemoteVectors } from "../recall/retrievers/meaning.js";
import { Lease } from "../store/lease.js";
import { RemoteRows } from "../store/remote-rows.js";
import type { Store } from "../store/store.js";
import type { Supervisor } from "../supervisor.js";
import { searchRemotely } from "../vectors/remote-search.js";

export interface RemoteParts {
  readonly vectors: RemoteVectors;
  readonly push: RemotePush;
  /** one sentence about what fails; null while nothing does */
  readonly failure: () => string | null;
}

export function remoteParts(
  config: Config,
  clock: { now(): number },
  store: Store,
  embedder: Pick<Embedder, "identity">,
  supervisor: Supervisor,
): RemoteParts | null {
  const { mode, storesVectors, searchTimeoutMs, indexTimeoutMs } = config.remote;
  if (mode === "local") return null;
  const service = new RemoteIndex({
    url: config.embedding.url,
    indexTimeoutMs,
    now: () => clock.now(),
  });
  const lease = new Lease(store.database, store.settings, "remote", () => clock.now());
  const push = new RemotePush({
    service,
    rows: new RemoteRows(store.database, store.settings, service.name),
    model: () => {
      const identity = embedder.identity();
      return identity === null ? null : identityKey(identity);
    },
    lease: (ms) => lease.take(ms),
    release: () => lease.release(),
    maxRetries: config.maintenance.maxRetries,
  });
  const noticing: Pick<RemoteIndex, "search"> = {
    search: async (agentId, query, options) => {
      const hits = await service.search(agentId, query, options);
      const isAll = options.minSimilarity <= -1 && !store.database.readOnly;
      if (hits.length === 0 && isAll)
        supervisor.run("pushing to the vector service", () => push.noticeLoss(agentId)).catch(() => {});
      return hits;
    },
  };
  return {
    vectors: {
      storesVectors,
      search: async (query) => {
        const { scope, source, withEpisodes } = query;
        const found = await searchRemotely(
          {
            ...query,
            scopeRows: rowsOf(store, scope),
            agentRows: rowsOf(store, { agentId: query.agentId, projectId: null, channel: null }),
            visible: (keys) => visibleKeys(keys, scope, source, withEpisodes, store),
          },
          noticing,
          searchTimeoutMs,
        );
        // What was stored a moment ago may be missing in a full list too.
        return { ...found, isShort: found.isShort || push.isBehind };
      },
    },
    push,
    failure: () => service.failure,
  };
}

function rowsOf(store: Store, scope: ReadScope): number {
  const { memories, episodes } = store.pool(scope);
  return memories + episodes;
}

function visibleKeys(
  keys: ReadonlySet<number>,
  scope: ReadScope,
  source: SourceFilter | null,
  withEpisodes: boolean,
  { memories, episodes }: Store,
): ReadonlySet<number> {
  const records = Array.from(keys, recordOfKey);
  const ids = (kind: RecordKind): number[] =>
    records.filter((record) => record.kind === kind).map(({ id }) => id);
  const found = memories.visibleIds(ids("mem"), scope, source).map((id) => recordKey("mem", id));
  if (withEpisodes) {
    for (const id of episodes.visibleIds(ids("ep"), scope)) found.push(recordKey("ep", id));
  }
  return new Set(found);
}
