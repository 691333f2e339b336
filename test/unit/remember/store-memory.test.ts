import { describe, expect, it } from "vitest";
import type { NewMemory } from "../../../ts/store/memories.js";
import { openTestMemory } from "../../support/memory.js";
import { sql } from "../../support/store.js";

describe("storing", () => {
  it("stamps rows with the injected clock", async () => {
    const { service, clock } = await openTestMemory();
    clock.advance(1500);
    await service.store({ content: "umbrella" });
    expect(service.listMemories()).toMatchObject([
      { createdAt: "2026-11-30 09:00:01", timestamp: "2026-11-30T09:00:01.500Z" },
    ]);
  });

  it("gives the id of the row that the narrowest matching bucket holds", async () => {
    const { service } = await openTestMemory();
    const store = async (projectId: string, channel: string) => {
      const outcome = await service.store({ content: "same", projectId, channel });
      return [outcome.result, outcome.id];
    };
    expect(await store("p", "c")).toEqual(["stored", 1]);
    expect(await store("p", "")).toEqual(["stored", 2]);
    expect(await store("", "")).toEqual(["stored", 3]);
    expect(await store("p", "c")).toEqual(["skipped", 1]);
    expect(await store("p", "d")).toEqual(["skipped", 2]);
    expect(await store("q", "d")).toEqual(["skipped", 3]);
  });

  it("stores the same text once when many calls bring it at the same time", async () => {
    const { service } = await openTestMemory({ settings: { CPERSONA_EMBEDDING_MODE: "static" } });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => service.store({ content: "same" })));
    expect(outcomes.filter((outcome) => outcome.result === "stored")).toHaveLength(1);
    expect(new Set(outcomes.map((outcome) => outcome.id))).toEqual(new Set([1]));
  });

  it("writes the words, the vector and its identity with the row", async () => {
    const { service, path } = await openTestMemory({ settings: { CPERSONA_EMBEDDING_MODE: "static" } });
    expect(await service.store({ content: "the umbrella" })).toMatchObject({ embedded: true });
    const rows = sql(
      path,
      "SELECT identity, dimension, block, start_char, end_char, length(vector) AS bytes FROM embeddings JOIN embedders ON code = embedder",
    );
    expect(rows).toMatchObject([{ dimension: 384, block: 0, start_char: 0, end_char: 12, bytes: 1536 }]);
    expect(rows[0]?.["identity"]).toMatch(/^static:.+:384$/);
  });

  it("has no vector for a script that the embedder does not know, and keeps the row", async () => {
    const { service } = await openTestMemory({ settings: { CPERSONA_EMBEDDING_MODE: "static" } });
    expect(await service.store({ content: "ประชุมวันจันทร์" })).toMatchObject({
      result: "stored",
      embedded: false,
    });
    expect((await service.recall({ query: "ประชุม" })).hits).toHaveLength(1);
  });

  it("keeps whatever well-formed text it gets, byte for byte", async () => {
    const { service } = await openTestMemory();
    const texts = [
      "\ufeffbom",
      "a\r\nb",
      "e\u0301",
      "\u200bzero",
      "👨‍👩‍👧‍👦",
      "\u202ertl",
      "tab\there",
      "'; DROP TABLE memories; --",
    ];
    for (const content of texts) await service.store({ content });
    const stored: NewMemory[] = service.listMemories();
    expect(stored.map((memory) => memory.content).reverse()).toEqual(texts.map((text) => text.trim()));
  });
});
