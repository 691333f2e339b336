// The vector search of the embedder's identity, opened when that is known and vectors are first asked for.

import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Config } from "../config.js";
import { type Embedder, type EmbedderIdentity, identityKey, presentIdentity } from "../embedding/embedder.js";
import { describeError } from "../errors.js";
import { log } from "../log.js";
import type { NativeCore } from "../native/contract.js";
import { twinCore } from "../native/twin/core.js";
import { NO_CODE } from "../store/embeddings.js";
import type { Store } from "../store/store.js";
import type { Supervisor } from "../supervisor.js";
import { VectorSearch } from "../vectors/vector-search.js";
import type { VectorSource } from "../vectors/vector-source.js";

export interface VectorSearches {
  /** of the embedder's present identity; null while it is off or that is not known yet */
  open(): VectorSearch | null;
  /** Deletes the index files of an identity whose vectors are gone. */
  removeFiles(identity: string): void;
  close(): Promise<void>;
}

export function vectorSearches(
  config: Config,
  core: NativeCore,
  store: Store,
  embedder: Embedder,
  supervisor: Supervisor,
): VectorSearches {
  // A server may change its model, and change back: searches that are running keep theirs.
  const opened = new Map<string, VectorSearch>();
  return {
    open: () => {
      const identity = presentIdentity(embedder);
      if (identity === null) return null;
      const key = identityKey(identity);
      const search = opened.get(key) ?? openVectorSearch(config, core, store, identity, supervisor);
      opened.set(key, search);
      return search;
    },
    removeFiles: (identity) => {
      const folder = indexFolder(config.database.path, indexName(store, identity));
      if (folder === null || opened.has(identity)) return;
      try {
        rmSync(folder, { recursive: true, force: true });
      } catch (error) {
        // A process that still has them mapped keeps them on some platforms; they are never read again.
        log("debug", `index files of an old embedder stay: ${describeError(error)}`);
      }
    },
    close: async () => {
      await Promise.all(Array.from(opened.values(), (search) => search.close()));
    },
  };
}

function indexName(store: Store, identity: string): Buffer {
  return createHash("sha256").update(`${store.databaseId()}\n${identity}`).digest();
}

function openVectorSearch(
  config: Config,
  core: NativeCore,
  store: Store,
  identity: EmbedderIdentity,
  supervisor: Supervisor,
): VectorSearch {
  const { dimension } = identity;
  const key = identityKey(identity);
  const name = indexName(store, key);
  const options = { dimension, identity: name.subarray(0, 16) };
  const folder = indexFolder(config.database.path, name);
  // A database in memory has no files, and the addon's index is files.
  const engine = folder === null ? twinCore : core;
  const index = engine.openVectorIndex({ ...options, folder });
  return new VectorSearch(index, storedVectors(store, key, dimension), {
    supervisor,
    inMemory: folder === null || core.kind === "twin",
    // Never locked, so the addon makes no files there. A path whose folder is readable for certain.
    openScratch: () => engine.openVectorIndex({ ...options, folder: `${config.database.path}.none` }),
  });
}

function storedVectors({ embeddings, changeLog }: Store, identity: string, dimension: number): VectorSource {
  let known: number = NO_CODE;
  const embedder = (): number => {
    if (known === NO_CODE) known = embeddings.knownCode(identity);
    return known;
  };
  // Where nothing of this embedder is kept no index of it needs the log.
  const shorten = async (sequence: number): Promise<boolean> =>
    embedder() !== NO_CODE && changeLog.shorten(embedder(), sequence);
  return {
    lastSequence: () => embeddings.lastSequence(),
    firstSequence: () => embeddings.firstSequence(),
    shortenLog: shorten,
    changedAfter: (after, until) => embeddings.changedAfter(after, until),
    rowsOf: (keys) => embeddings.rowsOf(keys, embedder(), dimension),
    rowsAfter: (afterId, limit) => embeddings.rowsAfter(afterId, embedder(), dimension, limit),
    rowsBefore: (beforeId, limit) => embeddings.rowsBefore(beforeId, embedder(), dimension, limit),
  };
}

/** Index files lie beside the database, one folder an identity; a database in memory has none. */
function indexFolder(databasePath: string, name: Buffer): string | null {
  if (databasePath === ":memory:") return null;
  return join(dirname(databasePath), `${basename(databasePath)}.vectors`, name.toString("hex").slice(0, 16));
}
