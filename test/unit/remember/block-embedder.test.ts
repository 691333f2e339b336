import { describe, expect, it } from "vitest";
import { EmbeddingError } from "../../../ts/embedding/failure.js";
import { BlockEmbedder, isPartial } from "../../../ts/remember/block-embedder.js";
import { chunksOf } from "../../../ts/text/chunks.js";

/** A text of `sentences` blocks and more. */
function longText(sentences: number): string {
  return Array.from(
    { length: sentences },
    (_, i) => `Sentence number ${i} ${"of a long report ".repeat(18)}.`,
  ).join(" ");
}

/** An embedder that takes `msPerText` on a clock of its own, and fails from request `failsAt` on. */
function slowEmbedder(msPerText: number, { failsAt = Number.POSITIVE_INFINITY } = {}) {
  let now = 0;
  const requests: number[] = [];
  const embedder = new BlockEmbedder(
    {
      state: () => ({ status: "ready" }),
      identity: () => ({ provider: "test", model: "m", dimension: 1, prefixes: { query: "", document: "" } }),
      embedDocuments: async (texts) => {
        if (requests.length >= failsAt) throw new EmbeddingError("unreachable", "away");
        requests.push(texts.length);
        now += msPerText * texts.length;
        return texts.map(() => Float32Array.of(1));
      },
    },
    () => now,
  );
  return { embedder, requests, elapsed: () => now };
}

describe("embedding the blocks of a text", () => {
  it("is whole within the budget of a write when the backend is fast", async () => {
    const text = longText(60);
    const { embedder, requests } = slowEmbedder(0.1);
    const embedding = await embedder.embedWithin(text, 250);
    expect(embedding?.blocks.map(({ startChar, endChar }) => ({ start: startChar, end: endChar }))).toEqual(
      chunksOf(text),
    );
    expect(embedding !== null && isPartial(embedding)).toBe(false);
    expect(requests).toEqual([4, 8, 16, chunksOf(text).length - 28]);
  });

  it("leaves the rest behind as one waiting stretch when it is slow", async () => {
    const text = longText(60);
    const { embedder, requests, elapsed } = slowEmbedder(100);
    const embedding = await embedder.embedWithin(text, 250);
    const spans = chunksOf(text);
    expect(requests).toEqual([4]);
    expect(elapsed()).toBe(400);
    expect(embedding?.blocks).toHaveLength(5);
    expect(embedding?.blocks[4]).toEqual({
      startChar: spans[4]?.start,
      endChar: text.length,
      vector: new Float32Array(0),
    });
    await embedder.embedWithin(text, 250);
    expect(requests.slice(1)).toEqual([2, 2]);
  });

  it("keeps what it has when the backend goes away, and stores nothing when it had nothing", async () => {
    const text = longText(60);
    const later = await slowEmbedder(1, { failsAt: 1 }).embedder.embedWithin(text, 250);
    expect(later?.blocks.map(({ vector }) => vector.length)).toEqual([1, 1, 1, 1, 0]);
    expect(await slowEmbedder(1, { failsAt: 0 }).embedder.embedWithin(text, 250)).toBeNull();
  });

  it("asks a slow backend in requests of about a quarter of a second, whatever the texts' borders", async () => {
    const { embedder, requests } = slowEmbedder(50);
    const texts = [longText(20), "short", "", longText(3)];
    const embeddings = await embedder.embedAll(texts);
    expect(embeddings.map((embedding) => embedding?.blocks.length)).toEqual(
      texts.map((text) => chunksOf(text).length),
    );
    expect(requests[0]).toBe(4);
    expect(Math.max(...requests.slice(1))).toBe(5);
  });
});
