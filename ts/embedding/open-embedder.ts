// Builds the embedder that the settings name. A wrong setting gives an embedder that says what is wrong, not
// an exception: the server must start without it.

import { fileURLToPath } from "node:url";
import type { NativeCore } from "../native/contract.js";
import type { Embedder } from "./embedder.js";
import { HttpEmbedder } from "./http.js";
import { openNoEmbedder } from "./none.js";
import { STATIC_FUSION_WEIGHT, StaticEmbedder } from "./static.js";

export interface EmbeddingConfig {
  /** default `static` */
  readonly mode: "static" | "http" | "none";
  /** `http`: address of the `/embed` route; null counts as misconfigured */
  readonly url: string | null;
  /** `http`: name of the model when the server tells none; null for unnamed */
  readonly model: string | null;
  /** `http`: time limit of a question, default 2,000: recall waits for it */
  readonly queryTimeoutMs: number;
  /** `http`: time limit of a batch of texts to store, default 30,000: nobody waits for it */
  readonly documentTimeoutMs: number;
  /** `http`: most cached questions, default 256; 0 caches none */
  readonly cacheSize: number;
  /** `http`: how long a cached question counts, default 300,000 */
  readonly cacheTtlMs: number;
  /** `static`: another table file than the packaged one; null for that one */
  readonly staticTablePath: string | null;
  /** share of the vote in rank fusion; null for the embedder's own, 0.5 for `static`, 1 for `http` */
  readonly fusionWeight: number | null;
}

export const DEFAULT_EMBEDDING_CONFIG: EmbeddingConfig = {
  mode: "static",
  url: null,
  model: null,
  queryTimeoutMs: 2_000,
  documentTimeoutMs: 30_000,
  cacheSize: 256,
  cacheTtlMs: 300_000,
  staticTablePath: null,
  fusionWeight: null,
};

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
        openTable: () => core.openStaticTable(config.staticTablePath ?? packagedTablePath()),
        fusionWeight: config.fusionWeight ?? STATIC_FUSION_WEIGHT,
      });
    case "http":
      return new HttpEmbedder({
        url: config.url ?? "",
        model: config.model ?? "",
        queryTimeoutMs: config.queryTimeoutMs,
        documentTimeoutMs: config.documentTimeoutMs,
        cacheSize: config.cacheSize,
        cacheTtlMs: config.cacheTtlMs,
        fusionWeight: config.fusionWeight ?? 1,
        now: () => clock.now(),
      });
  }
}

/** `assets/` lies beside `ts/` in the repository and beside `dist/` in the package. */
function packagedTablePath(): string {
  return fileURLToPath(new URL("../../assets/static-multilingual/static.ste", import.meta.url));
}
