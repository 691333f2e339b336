// Builds the embedder that the settings name. A wrong setting gives an embedder that says what is wrong, not
// an exception: the server must start without it.

import { join } from "node:path";
import type { NativeCore } from "../native/contract.js";
import { packageRoot } from "../package-root.js";
import type { EmbeddingConfig } from "../settings/embedding.js";
import type { Backend } from "./backend.js";
import { BackendEmbedder, MODEL_FUSION_WEIGHT } from "./backend-embedder.js";
import type { Embedder, EmbedderCard } from "./embedder.js";
import { openNoEmbedder } from "./none.js";
import { OnnxBackend } from "./onnx/onnx-backend.js";
import { RemoteBackend } from "./remote/remote-backend.js";
import { EMBED_WIRE, openAiWire } from "./remote/wire.js";
import { STATIC_FUSION_WEIGHT, StaticEmbedder } from "./static.js";

export interface EmbedderParts {
  readonly core: Pick<NativeCore, "openStaticTable">;
  /** `now` in milliseconds; times the cache and the pauses after failures */
  readonly clock: { now(): number };
}

const MODEL_PROCESS = join("dist", "bin", "model-process.mjs");

/** Never throws and opens nothing: files, processes and connections wait for the first text. */
export function openEmbedder(config: EmbeddingConfig, { core, clock }: EmbedderParts): Embedder {
  const { mode, url, model, apiKey, queryTimeoutMs, documentTimeoutMs, cacheSize, cacheTtlMs } = config;
  const limits = { queryTimeoutMs, documentTimeoutMs, cacheSize, cacheTtlMs };
  const fusionWeight = config.fusionWeight ?? MODEL_FUSION_WEIGHT;
  const ask = (backend: Backend, card: EmbedderCard = { ...UNKNOWN_CARD, fusionWeight }): Embedder =>
    new BackendEmbedder({ ...limits, backend, card, model, now: () => clock.now() });
  switch (mode) {
    case "none":
      return openNoEmbedder();
    case "static":
      return new StaticEmbedder({
        openTable: () => core.openStaticTable(config.staticTablePath),
        fusionWeight: config.fusionWeight ?? STATIC_FUSION_WEIGHT,
      });
    case "http":
      return ask(new RemoteBackend({ provider: "http", url, key: "", wire: EMBED_WIRE }));
    case "api":
      return ask(new RemoteBackend({ provider: "api", url, key: apiKey, wire: openAiWire(model) }));
    case "onnx": {
      const script = join(packageRoot(), MODEL_PROCESS);
      const { modelPath: folder, threads, idleMs } = config;
      const backend = new OnnxBackend({ folder, threads, idleMs, script });
      return ask(backend, {
        ...UNKNOWN_CARD,
        fusionWeight,
        get unrelatedCosine() {
          return backend.model()?.unrelatedCosine ?? null;
        },
        get languages() {
          return backend.model()?.languages ?? null;
        },
      });
    }
  }
}

const UNKNOWN_CARD = { centre: null, unrelatedCosine: null, isContextual: true, languages: null };
