// Vectors of a text that is about to be stored, one a block. A failing backend never stops a write: the row is
// stored without vectors and is found by its words.

import type { Embedder } from "../embedding/embedder.js";
import { describeError } from "../errors.js";
import { log } from "../log.js";
import type { NewEmbedding } from "../store/store.js";
import { embedTexts } from "./embed-texts.js";

/** Null when there is no vector: embedding is off, failed, or the text has nothing to embed. */
export type EmbedText = (text: string) => Promise<NewEmbedding | null>;

export function textEmbedder(embedder: Embedder): EmbedText {
  return async (text) => {
    if (embedder.state().status === "off") return null;
    try {
      const [embedding] = await embedTexts(embedder, [text]);
      return embedding ?? null;
    } catch (error) {
      log("warn", `stored without a vector: ${describeError(error)}`);
      return null;
    }
  };
}
