// Vectors of a text that is about to be stored. A failing backend never stops a write: the row is stored
// without vectors and is found by its words.

import { countChars } from "../domain/text.js";
import { type Embedder, identityKey } from "../embedding/embedder.js";
import { describeError } from "../errors.js";
import { log } from "../log.js";
import type { NewEmbedding } from "../store/store.js";

/** Null when there is no vector: embedding is off, failed, or the text has nothing to embed. */
export type EmbedText = (text: string) => Promise<NewEmbedding | null>;

export function textEmbedder(embedder: Embedder): EmbedText {
  return async (text) => {
    if (embedder.state().status === "off") return null;
    try {
      const [vector] = await embedder.embedDocuments([text]);
      const identity = embedder.identity();
      if (vector === null || vector === undefined || identity === null) return null;
      return {
        identity: identityKey(identity),
        dimension: identity.dimension,
        blocks: [{ startChar: 0, endChar: countChars(text), vector }],
      };
    } catch (error) {
      log("warn", `stored without a vector: ${describeError(error)}`);
      return null;
    }
  };
}
