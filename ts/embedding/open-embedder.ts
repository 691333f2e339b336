// Builds the embedder that the settings name. A wrong setting gives an embedder that says what is wrong, not
// an exception: the server must start without it.

import type { EmbeddingConfig } from "../config.js";
import type { NativeCore } from "../native/contract.js";
import type { Embedder } from "./embedder.js";
import { HTTP_FUSION_WEIGHT, HttpEmbedder } from "./http.js";
import { openNoEmbedder } from "./none.js";
import { STATIC_FUSION_WEIGHT, StaticEmbedder } from "./static.js";

export interface EmbedderParts {
  readonly core: Pick<NativeCore, "openStaticTable">;
  /** `now` in milliseconds; times the cache and the pauses after failures */
  readonly clock: { now(): number };
}

/** Never throws and opens nothing: files and connections wait for the first text. */
export function openEmbedder(config: EmbeddingConfig, { core, clock }: EmbedderParts): Embedder {
  switch (config.mode) {
    case "none":
      return openNoEmbedder();
    case "static":
      return new StaticEmbedder({
        openTable: () => core.openStaticTable(config.staticTablePath),
        fusionWeight: config.fusionWeight ?? STATIC_FUSION_WEIGHT,
      });
    case "http":
      return new HttpEmbedder({
        url: config.url,
        model: config.model,
        queryTimeoutMs: config.queryTimeoutMs,
        documentTimeoutMs: config.documentTimeoutMs,
        cacheSize: config.cacheSize,
        cacheTtlMs: config.cacheTtlMs,
        fusionWeight: config.fusionWeight ?? HTTP_FUSION_WEIGHT,
        now: () => clock.now(),
      });
  }
}
