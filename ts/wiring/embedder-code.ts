// The code under which the database keeps the vectors in use.

import { identityKey, presentIdentity } from "../embedding/embedder.js";
import type { Wiring } from "./recall-parts.js";

/** Null while the embedder is off or its identity is not known; `NO_CODE` before its first vector is kept. */
export function embedderCode({ store, embedder }: Pick<Wiring, "store" | "embedder">): number | null {
  const identity = presentIdentity(embedder);
  return identity === null ? null : store.embeddings.knownCode(identityKey(identity));
}

/** The same inside the write transaction: made when it is new. */
export function storedEmbedderCode({ store, embedder }: Pick<Wiring, "store" | "embedder">): number | null {
  const identity = presentIdentity(embedder);
  return identity === null ? null : store.embeddings.embedderCode(identityKey(identity), identity.dimension);
}
