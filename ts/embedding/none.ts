// No embedder: recall is lexical.

import type { Embedder } from "./embedder.js";

/** Answers every text with "no vector". */
export function openNoEmbedder(): Embedder {
  return {
    identity: () => null,
    card: { fusionWeight: 0, centre: null, unrelatedCosine: null, isContextual: false, languages: [] },
    embedQuery: async () => null,
    embedDocuments: async (texts) => texts.map(() => null),
    state: () => ({ status: "off" }),
    close: () => {},
  };
}
