// Store, embedder and indexes as the parts that maintenance works with.

import { recordKey, recordOfKey } from "../domain/record.js";
import { EVERYTHING } from "../domain/scope.js";
import { calibratedCosine, presentIdentity } from "../embedding/embedder.js";
import { Backfill } from "../maintenance/backfill.js";
import type { DeepCheckParts } from "../maintenance/deep-check.js";
import { JobRunner } from "../maintenance/jobs/jobs.js";
import { OldVectors } from "../maintenance/old-vectors.js";
import { OperatingContextReader } from "../maintenance/operating-context.js";
import type { ExportSnapshot } from "../maintenance/transfer/export.js";
import type { ImportParts } from "../maintenance/transfer/import.js";
import type { BlockEmbedder } from "../remember/block-embedder.js";
import type { MaintenanceParts } from "../service/maintenance-service.js";
import { CPersonaFile } from "../store/cpersona-file.js";
import { loadDriver } from "../store/driver.js";
import { EmbedderUses } from "../store/embedder-uses.js";
import { Lease } from "../store/lease.js";
import { contentHash } from "../store/memories.js";
import { SCHEMA_VERSION } from "../store/schema.js";
import { repairSchemaFault, schemaFaults } from "../store/schema-check.js";
import { Store } from "../store/store.js";
import { embedderCode, storedEmbedderCode } from "./embedder-code.js";
import type { OpenWiring } from "./open-wiring.js";
import type { Wiring } from "./recall-parts.js";

export interface MaintenanceWiring extends OpenWiring {
  readonly blocks: BlockEmbedder;
}

export function maintenanceParts(wiring: MaintenanceWiring): MaintenanceParts {
  const { config, clock, store, searches } = wiring;
  const operatingContext = new OperatingContextReader(config.maintenance.operatingContextPath);
  const backfill = backfillOf(wiring);
  const jobs = new JobRunner(store, clock);
  return {
    config,
    clock,
    backfill,
    operatingContext,
    health: healthParts(wiring, backfill, operatingContext),
    store,
    jobs,
    imports: { config, clock, embedder: labelParts(wiring), store, jobs },
    snapshot: (embeddings) => openSnapshot(wiring, embeddings),
    openCPersonaFile: (path) => {
      const file = CPersonaFile.open(path, loadDriver(config.database.driver));
      return { unit: "row", records: () => numbered(file.records()), close: () => file.close() };
    },
    remote: wiring.remote?.push ?? null,
    oldVectors: oldVectorsOf(wiring),
    writeMark: () => `${store.vectorGaps.writeMark()}:${embedderCode(wiring)}`,
    // They serve the search here, of vectors that are kept here.
    learnQuestions: async () => {
      if (config.remote.storesVectors) await wiring.questions.learn();
    },
    lexicalRepair: store.lexicalRepair,
    supervisor: wiring.supervisor,
    syncVectors: async () => searches.open()?.sync(),
    changed: () => searches.open()?.scheduleSync(),
  };
}

function* numbered(records: Iterable<Record<string, unknown>>) {
  let line = 0;
  for (const record of records) yield { line: ++line, record };
}

function labelParts({ embedder }: Wiring): ImportParts["embedder"] {
  return {
    identity: () => presentIdentity(embedder),
    embedDocuments: (texts) => embedder.embedDocuments(texts),
  };
}

function backfillOf(wiring: MaintenanceWiring): Backfill {
  const { config, clock, store, embedder, searches, blocks } = wiring;
  const lease = new Lease(store.database, store.settings, "vectors", () => clock.now());
  // Where only the service keeps vectors, none are missing here.
  const isOff = !config.remote.storesVectors;
  return new Backfill({
    embedder: isOff ? { state: () => ({ status: "off" }) } : embedder,
    embedderCode: () => (isOff ? null : embedderCode(wiring)),
    embedTexts: (texts) => blocks.embedAll(texts),
    idsWithoutVector: (kind, code, before, limit) =>
      store.vectorGaps.idsWithoutVector(kind, code, before, limit),
    waitingKeys: (code, after, limit) => store.vectorGaps.waitingKeys(code, after, limit),
    countWithoutVector: (code, agentId) => store.vectorGaps.countWithoutVector(code, agentId),
    texts: (keys) => store.vectorGaps.texts(keys),
    putVectors: (known, rows) => {
      const put = (): void => {
        // A server's model may have changed while texts were embedded for the one before.
        if (embedderCode(wiring) !== known) return;
        const code = storedEmbedderCode(wiring) as number;
        const now = store.vectorGaps.texts(rows.map(({ key }) => key));
        for (const { key, text, embedding } of rows) {
          // The row may have been changed or deleted while its text was embedded.
          if (now.get(key) !== text) continue;
          if (embedding === null) store.embeddings.markBlank(key, code);
          else store.embeddings.put(key, code, embedding.blocks);
        }
      };
      return store.database.write(put, { background: true });
    },
    lease: (ms) => lease.take(ms),
    release: () => lease.release(),
    changed: () => searches.open()?.scheduleSync(),
    maxRetries: config.maintenance.maxRetries,
  });
}

function oldVectorsOf(wiring: Wiring): OldVectors {
  const { clock, store, searches } = wiring;
  const uses = new EmbedderUses(store.database, store.settings);
  return new OldVectors({
    clock,
    embedderCode: () => embedderCode(wiring),
    touch: (code, now) => uses.touch(code, now),
    byLastUse: () => uses.byLastUse(),
    removeVectors: (code, successor, from, limit) => uses.removeVectors(code, successor, from, limit),
    removeIndex: (identity) => searches.removeFiles(identity),
  });
}

function healthParts(
  wiring: MaintenanceWiring,
  backfill: Backfill,
  operatingContext: OperatingContextReader,
): DeepCheckParts {
  const { config, clock, core, store, embedder, searches, calibrations } = wiring;
  const { database, lexical, transfer } = store;
  return {
    config,
    clock,
    rows: store.health,
    embedder,
    embedderCode: () => embedderCode(wiring),
    // The embedder inside the package has no vector for scripts that it does not know, and never fails.
    embedsHere: () => config.remote.storesVectors && !["static", "none"].includes(config.embedding.mode),
    backfill,
    remote: wiring.remote,
    operatingContext,
    standing: () => wiring.supervisor.standing(),
    vectors: () => searches.open()?.info() ?? null,
    syncVectors: async () => searches.open()?.sync(),
    areVectorFilesIntact: async () => (await searches.open()?.verify()) ?? true,
    rebuildVectors: async () => searches.open()?.rebuild(),
    native: { kind: core.kind, simd: core.simd, notice: wiring.nativeNotice },
    driver: database.driverName,
    knownSchema: SCHEMA_VERSION,
    counts: (agentId) => transfer.counts(agentId),
    isLexicalIntact: () => lexical.isIntact(),
    repairLexical: () => store.lexicalRepair.run(() => clock.now()),
    schemaFaults: () => schemaFaults(database),
    repairSchemaFault: (fault) => repairSchemaFault(database, fault),
    contentHash,
    replaceContent: (id, content) => {
      const [memory] = store.memories.get([id], EVERYTHING);
      const holder = memory === undefined ? null : store.memories.findHolder(memory, content);
      if (holder !== null && holder !== id) return "held";
      store.replaceContent(id, content, null);
      return "replaced";
    },
    deleteMemory: (id) => store.deleteMemory(id),
    dropVectors: (keys) => {
      for (const key of keys) store.embeddings.remove(key);
    },
    profiles: (agentId) => transfer.profiles(agentId),
    putProfile: (profile) => transfer.putProfile(profile),
    transaction: (work) => database.transaction(work),
    similar: (ids, agentId) => similarMemories(ids, agentId, wiring),
    newestIds: (agentId, limit) =>
      store.memories.newest({ ...EVERYTHING, agentId }, null, limit).map(({ id }) => id),
    offLength: (agentId, tolerance, limit) => store.health.offLength(agentId, tolerance, limit),
    calibrationState: (agentId) => {
      if (embedderCode(wiring) === null) return { status: "not_applicable", reason: "no embedder" };
      if (calibrations.own(agentId) === null) return { status: "not_calibrated" };
      const held = store.memoryCounts().find((row) => row.agentId === agentId)?.rows ?? 0;
      return { status: calibrations.isDue(agentId, held) ? "stale" : "fresh" };
    },
  };
}

/** The nearest other memory of each, once a pair. */
async function similarMemories(
  ids: readonly number[],
  agentId: string,
  wiring: Wiring,
): Promise<{ id: number; other: number; cosine: number }[]> {
  const { store, embedder, searches } = wiring;
  const search = searches.open();
  const code = embedderCode(wiring);
  if (search === null || code === null) return [];
  const pairs = new Map<string, { id: number; other: number; cosine: number }>();
  const scopes = store.pool({ ...EVERYTHING, agentId }).codes;
  for (const id of ids) {
    const [query] = store.embeddings.vectorsOf([recordKey("mem", id)], code).get(recordKey("mem", id)) ?? [];
    if (query === undefined || query.length !== search.dimension) continue;
    const request = {
      query,
      scopes,
      near: null,
      far: null,
      nearLimit: 3,
      farLimit: 0,
      floor: -1,
      only: null,
    };
    const found = await search.search({ ...request, method: "auto" });
    for (const [i, key] of found.keys.entries()) {
      const other = recordOfKey(key);
      if (other.kind !== "mem" || other.id === id) continue;
      const cosine = calibratedCosine(embedder.card, found.scores[i] ?? 0);
      const [low, high] = [Math.min(id, other.id), Math.max(id, other.id)];
      pairs.set(`${low}:${high}`, { id: low, other: high, cosine });
    }
  }
  return [...pairs.values()].sort((a, b) => b.cosine - a.cosine || a.id - b.id || a.other - b.other);
}

function exportRows(store: Store, embedder: number | "none" | "newest"): ExportSnapshot {
  const { transfer } = store;
  return {
    counts: (agentId) => transfer.counts(agentId),
    idsAfter: (kind, agentId, after, limit) => transfer.idsAfter(kind, agentId, after, limit),
    memories: (ids) => store.memories.get(ids, EVERYTHING),
    episodes: (ids) => store.episodes.get(ids, EVERYTHING),
    belongings: (keys) => store.belongings.of(keys, embedder),
    profiles: (agentId) => transfer.profiles(agentId),
  };
}

/** A connection of its own, so that writes go on while the export reads. A database in memory has only one. */
function openSnapshot(wiring: Wiring, embeddings: boolean): ExportSnapshot & { close(): void } {
  const { config } = wiring;
  const embedder = embeddings ? (embedderCode(wiring) ?? "newest") : "none";
  if (config.database.path === ":memory:") return { ...exportRows(wiring.store, embedder), close: () => {} };
  const view = Store.open(config.database, { readOnly: true });
  view.transfer.beginSnapshot();
  return {
    ...exportRows(view, embedder),
    close: () => {
      view.transfer.endSnapshot();
      view.close();
    },
  };
}
