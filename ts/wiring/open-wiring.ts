// Settings -> native core, embedder, store, vector search: what every use of a memory works with.

import type { Config } from "../config.js";
import { capabilitiesOf } from "../embedding/capabilities.js";
import { identityKey, presentIdentity } from "../embedding/embedder.js";
import { openEmbedder } from "../embedding/open-embedder.js";
import { ReopeningEmbedder } from "../embedding/reopening.js";
import { log, setLogLevel } from "../log.js";
import { CalibrationStore, type SettingsStore } from "../maintenance/calibration.js";
import { openCore } from "../native/core.js";
import { Store } from "../store/store.js";
import { Supervisor } from "../supervisor.js";
import { questionDirections } from "./question-directions.js";
import type { Wiring } from "./recall-parts.js";
import { remoteParts } from "./remote-parts.js";
import { vectorSearches } from "./vector-searches.js";

export interface OpenWiring extends Wiring {
  /** why the native code does not run; null when it does or was not wanted */
  readonly nativeNotice: string | null;
}

/** Named values that are written when their turn has come. */
function queuedSettings({ database, settings }: Store): SettingsStore {
  return {
    get: (name) => settings.get(name),
    put: (name, value) => database.write(() => settings.put(name, value)),
    remove: (name) => database.write(() => settings.remove(name)),
  };
}

/** Throws `driver_missing`, `schema_mismatch` or `storage_unavailable`. */
export function openWiring(config: Config, clock: { now(): number }, { readOnly = false } = {}): OpenWiring {
  setLogLevel(config.logLevel);
  for (const warning of config.warnings) log("warn", warning);
  const { core, notice } = openCore({
    mode: config.native.mode,
    simd: config.native.simd === "auto" ? undefined : config.native.simd,
  });
  if (notice !== null) log("warn", notice);
  const store = Store.open(config.database, { readOnly });
  const embedder = new ReopeningEmbedder({
    open: () => openEmbedder(config.embedding, { core, clock }),
    capabilities: capabilitiesOf(config.embedding),
    queryTimeoutMs: config.embedding.queryTimeoutMs,
    now: () => clock.now(),
  });
  const supervisor = new Supervisor(clock);
  const searches = vectorSearches(config, core, store, embedder, supervisor);
  const calibrations = new CalibrationStore(queuedSettings(store), () => {
    const identity = presentIdentity(embedder);
    return identity === null ? null : identityKey(identity);
  });
  const questions = questionDirections({ store, embedder });
  const remote = remoteParts(config, clock, store, embedder, supervisor);
  return {
    ...{ config, clock, core, store, embedder, searches, calibrations, questions, remote, supervisor },
    nativeNotice: notice,
  };
}
