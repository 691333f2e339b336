// The vector search of the embedder's identity, opened when that is known and vectors are first asked for.

import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import type { Config } from "../config.js";
import { type Embedder, identityKey } from "../embedding/embedder.js";
import type { NativeCore } from "../native/contract.js";
import { twinCore } from "../native/twin/core.js";
import type { Store } from "../store/store.js";
import { VectorSearch, type VectorSource } from "../vectors/vector-search.js";

export interface VectorSearches {
  /** null while the embedder is off or its identity is not known yet */
  open(): VectorSearch | null;
  close(): Promise<void>;
}

export function vectorSearches(
  config: Config,
  core: NativeCore,
  store: Store,
  embedder: Embedder,
): VectorSearches {
  let current: VectorSearch | null = null;
  return {
    open: () => {
      current ??= openVectorSearch(config, core, store, embedder);
      return current;
    },
    close: async () => current?.close(),
  };
}

function openVectorSearch(
  config: Config,
  core: NativeCore,
  store: Store,
  embedder: Embedder,
): VectorSearch | null {
  const identity = embedder.state().status === "off" ? null : embedder.identity();
  if (identity === null) return null;
  const { dimension } = identity;
  const key = identityKey(identity);
  const name = createHash("sha256").update(`${store.databaseId()}\n${key}`).digest();
  const options = { dimension, identity: name.subarray(0, 16) };
  const folder = indexFolder(config.database.path, name);
  // A database in memory has no files, and the addon's index is files.
  const engine = folder === null ? twinCore : core;
  const index = engine.openVectorIndex({
    ...options,
    folder,
    centre: embedder.card.centre,
  });
  return new VectorSearch(
    index,
    storedVectors(store, store.embeddings.embedderCode(key, dimension), dimension),
    {
      inMemory: folder === null || core.kind === "twin",
      // Never locked, so the addon makes no files there. A path whose folder is readable for certain.
      openScratch: () =>
        engine.openVectorIndex({ ...options, folder: `${config.database.path}.none`, centre: null }),
    },
  );
}

function storedVectors({ embeddings }: Store, embedder: number, dimension: number): VectorSource {
  return {
    lastSequence: () => embeddings.lastSequence(),
    firstSequence: () => embeddings.firstSequence(),
    changedAfter: (after, until) => embeddings.changedAfter(after, until),
    rowsOf: (keys) => embeddings.rowsOf(keys, embedder, dimension),
    rowsAfter: (afterId, limit) => embeddings.rowsAfter(afterId, embedder, dimension, limit),
  };
}

/** Index files lie beside the database, one folder an identity; a database in memory has none. */
function indexFolder(databasePath: string, name: Buffer): string | null {
  if (databasePath === ":memory:") return null;
  return join(dirname(databasePath), `${basename(databasePath)}.vectors`, name.toString("hex").slice(0, 16));
}
