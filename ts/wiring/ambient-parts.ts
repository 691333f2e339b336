// The vectors that ambient recall looks at by record.

import type { AmbientParts } from "../ambient/types.js";
import { embedderCode } from "./embedder-code.js";
import type { Wiring } from "./recall-parts.js";

/** The blocks' vectors of the embedder in use; nothing while it is off or unknown. */
export function storedVectors(wiring: Wiring): AmbientParts["vectorsOf"] {
  return (keys) => {
    const code = keys.length === 0 ? null : embedderCode(wiring);
    return code === null ? new Map() : wiring.store.embeddings.vectorsOf(keys, code);
  };
}
