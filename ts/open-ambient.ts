// Ambient recall alone, for a process that answers one prompt and ends: nothing of writing, upkeep and moving
// is loaded.

import type { Config } from "./config.js";
import { AmbientService } from "./service/ambient-service.js";
import { storedVectors } from "./wiring/ambient-parts.js";
import { openWiring } from "./wiring/open-wiring.js";
import { recallParts } from "./wiring/recall-parts.js";

/** Throws as `openService` does. Nothing needs closing: the process ends. */
export function openAmbient(
  config: Config,
  clock: { now(): number },
  options: { readonly readOnly?: boolean } = {},
): AmbientService {
  const wiring = openWiring(config, clock, options);
  return new AmbientService({
    config,
    clock,
    store: wiring.store,
    recallParts: recallParts(wiring),
    supervisor: wiring.supervisor,
    vectorsOf: storedVectors(wiring),
  });
}
