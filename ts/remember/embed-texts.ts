// Vectors of several texts at once, one a block. Unlike a write, filling in what is missing must know that a
// backend failed, so this one throws.

import { blocksOf } from "../domain/blocks.js";
import { sliceChars } from "../domain/text.js";
import { type Embedder, identityKey } from "../embedding/embedder.js";
import type { NewEmbedding } from "../store/store.js";

/** Texts of one request to the embedder: servers refuse or time out on longer lists. */
const BATCH_TEXTS = 64;

/** In the texts' order; null for a text that has nothing to embed. Rejects with `embedding_failed`. */
export async function embedTexts(
  embedder: Pick<Embedder, "embedDocuments" | "identity">,
  texts: readonly string[],
): Promise<(NewEmbedding | null)[]> {
  const spans = texts.flatMap((text, of) => blocksOf(text).map(({ start, end }) => ({ of, start, end })));
  const pieces = spans.map(({ of, start, end }) => sliceChars(texts[of] as string, start, end));
  const vectors: (Float32Array | null)[] = [];
  for (let i = 0; i < pieces.length; i += BATCH_TEXTS)
    vectors.push(...(await embedder.embedDocuments(pieces.slice(i, i + BATCH_TEXTS))));
  const identity = embedder.identity();
  return texts.map((_, of) => {
    const blocks = spans.flatMap(({ of: owner, start, end }, i) => {
      const vector = vectors[i];
      return owner !== of || vector === null || vector === undefined
        ? []
        : [{ startChar: start, endChar: end, vector }];
    });
    if (identity === null || blocks.length === 0) return null;
    return { identity: identityKey(identity), dimension: identity.dimension, blocks };
  });
}
