import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../../../ts/config.js";
import { type Embedder, identityKey } from "../../../ts/embedding/embedder.js";
import { openEmbedder } from "../../../ts/embedding/open-embedder.js";
import { twinCore } from "../../../ts/native/twin/core.js";
import { type EmbedHandler, type EmbedServer, startEmbedServer } from "./embed-server.js";

const KEY = "sk-very-secret";

/** Items in reverse: the index says where each belongs. */
const answer: EmbedHandler = ({ texts }) => ({
  data: texts.map((text, index) => ({ index, embedding: [text.length, 1] })).reverse(),
  model: "named-otherwise",
});

let server: EmbedServer;
let embedder: Embedder;

function open(settings: Record<string, string> = {}): Embedder {
  const { embedding } = readConfig({
    CPERSONA_EMBEDDING_MODE: "api",
    CPERSONA_EMBEDDING_API_URL: server.url,
    CPERSONA_EMBEDDING_API_KEY: KEY,
    CPERSONA_EMBEDDING_QUERY_TIMEOUT_MS: "20000",
    ...settings,
  });
  return openEmbedder(embedding, { core: twinCore, clock: { now: () => 0 } });
}

beforeEach(async () => {
  server = await startEmbedServer(answer);
  embedder = open();
});
afterEach(async () => {
  embedder.close();
  await server.close();
});

describe("the api embedder", () => {
  it("sends model, texts and key, and sorts the answer by its index", async () => {
    const vectors = await embedder.embedDocuments(["abc", " ", "a"]);
    expect(vectors).toEqual([
      Float32Array.of(3 / Math.sqrt(10), 1 / Math.sqrt(10)),
      null,
      Float32Array.of(Math.SQRT1_2, Math.SQRT1_2),
    ]);
    expect(server.requests[0]?.body).toEqual({
      model: "text-embedding-3-small",
      input: ["abc", "a"],
      encoding_format: "float",
    });
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it("is known by the model that was asked for, not by the key or by what the service calls it", async () => {
    await embedder.embedQuery("a");
    const identity = embedder.identity();
    expect(identity && identityKey(identity)).toBe("api:text-embedding-3-small:2");
    expect(embedder.card).toMatchObject({ fusionWeight: 0.5, unrelatedCosine: null });
  });

  it("sends no key where none is set", async () => {
    embedder = open({ CPERSONA_EMBEDDING_API_KEY: "", CPERSONA_EMBEDDING_MODEL: "bge-m3" });
    await embedder.embedQuery("a");
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(server.requests[0]?.body["model"]).toBe("bge-m3");
  });

  const item = (index: unknown, embedding: unknown = [1, 0]) => ({ index, embedding });
  const nonsense: [string, object][] = [
    ["no data", { embeddings: [[1], [1]] }],
    ["one vector for two texts", { data: [item(0)] }],
    ["three vectors for two texts", { data: [item(0), item(1), item(2)] }],
    ["an index twice", { data: [item(0), item(0)] }],
    ["an index beyond the texts", { data: [item(0), item(2)] }],
    ["a negative index", { data: [item(0), item(-1)] }],
    ["half an index", { data: [item(0), item(0.5)] }],
    ["no index", { data: [{ embedding: [1] }, { embedding: [1] }] }],
    ["an index as text", { data: [item("0"), item(1)] }],
    ["vectors of unequal length", { data: [item(0), item(1, [1])] }],
    ["a vector as text", { data: [item(0), item(1, "AACAPw==")] }],
    ["a number that is none", { data: [item(0), item(1, [1, "x"])] }],
    ["a list instead of items", { data: [[1], [1]] }],
  ];
  it.each(nonsense)("refuses %s", async (_, body) => {
    server.handler = () => body;
    await expect(embedder.embedDocuments(["a", "b"])).rejects.toMatchObject({
      code: "embedding_failed",
      reason: "misconfigured",
    });
    expect(embedder.identity()).toBeNull();
  });

  it.each([
    [401, "misconfigured", /refuses the key/],
    [402, "misconfigured", /wants to be paid/],
    [403, "misconfigured", /does not allow this key/],
    [404, "misconfigured", /does not know the model/],
    [429, "unreachable", /quota/],
    [503, "unreachable", /HTTP status 503/],
  ])("says what status %i means, without the key", async (status, reason, message) => {
    server.handler = () => status;
    const error = await embedder.embedQuery("a").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason, message: expect.stringMatching(message) });
    await embedder.embedQuery("b").catch(() => {});
    const shown = `${(error as Error).stack}${JSON.stringify([error, embedder.state()])}`;
    expect(shown).not.toContain(KEY);
    expect(shown).not.toMatch(/secret page|127\.0\.0\.1/);
  });

  it("does not carry the key to where a redirect points", async () => {
    const elsewhere = await startEmbedServer(answer);
    try {
      server.handler = (_, response) => {
        response.writeHead(307, { location: elsewhere.url }).end();
        return undefined;
      };
      await expect(embedder.embedQuery("a")).rejects.toMatchObject({
        reason: "misconfigured",
        message: expect.stringMatching(/not followed/),
      });
      expect(elsewhere.requests).toEqual([]);
    } finally {
      await elsewhere.close();
    }
  });
});
