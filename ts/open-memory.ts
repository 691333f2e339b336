// Builds the parts and wires them: settings -> native core, embedder, store, vector search -> service.

import { type Config, readConfig } from "./config.js";
import { BlockEmbedder, isPartial } from "./remember/block-embedder.js";
import { CalibrationService } from "./service/calibration-service.js";
import { MaintenanceService } from "./service/maintenance-service.js";
import { MemoryService } from "./service/memory-service.js";
import type { Environment } from "./settings/reader.js";
import { storedVectors } from "./wiring/ambient-parts.js";
import { calibrationParts } from "./wiring/calibration-parts.js";
import { maintenanceParts } from "./wiring/maintenance-parts.js";
import { openWiring } from "./wiring/open-wiring.js";
import { recallParts } from "./wiring/recall-parts.js";

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

/** The same from settings that are read already. `isShared`: many clients use this process. */
export function openService(
  config: Config,
  clock: { now(): number },
  { isShared = false } = {},
): MemoryService {
  const wiring = openWiring(config, clock);
  const { store, embedder, searches, remote } = wiring;
  const blocks = new BlockEmbedder(embedder);
  const maintenance = new MaintenanceService(maintenanceParts({ ...wiring, blocks }));
  return new MemoryService({
    config,
    clock,
    store,
    embedder,
    // What the time of a write does not suffice for is embedded behind it.
    embedText: async (text) => {
      if (!config.remote.storesVectors) return null;
      const embedding = await blocks.embedWithin(text, config.embedding.writeBudgetMs);
      if (embedding !== null && isPartial(embedding)) maintenance.fillWaitingSoon();
      return embedding;
    },
    remote: remote?.push ?? null,
    recallParts: recallParts(wiring),
    vectorsOf: storedVectors(wiring),
    calibration: new CalibrationService(calibrationParts(wiring)),
    maintenance,
    supervisor: wiring.supervisor,
    vectorSearch: () => searches.open(),
    isShared,
    close: async () => {
      await searches.close();
      store.close();
    },
  });
}
