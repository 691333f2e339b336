// The vectors that ambient recall looks at by record.

import type { AmbientParts } from "../ambient/types.js";
import { identityKey } from "../embedding/embedder.js";
import type { Wiring } from "./recall-parts.js";

/** The blocks' vectors of the embedder in use; nothing while it is off or unknown. */
export function storedVectors({ store, embedder }: Wiring): AmbientParts["vectorsOf"] {
  return (keys) => {
    const identity = embedder.state().status === "off" || keys.length === 0 ? null : embedder.identity();
    if (identity === null) return new Map();
    const code = store.embeddings.embedderCode(identityKey(identity), identity.dimension);
    return store.embeddings.vectorsOf(keys, code);
  };
}
