import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RemoteIndex } from "../../../ts/embedding/remote-index.js";
import { type EmbedStub, startEmbedStub } from "../../support/embed-stub.js";

let stub: EmbedStub;
beforeEach(async () => {
  stub = await startEmbedStub();
});
afterEach(() => stub.close());

const open = (url = stub.url, now = () => Date.now()) =>
  new RemoteIndex({ url, indexTimeoutMs: 20_000, now });
const OPTIONS = { limit: 5, minSimilarity: -1, timeoutMs: 20_000 };

describe("the vector service", () => {
  it("is given, asked and emptied in the words of the reference", async () => {
    const service = open();
    await service.index("a", [
      { ref: "mem:1", text: "green car" },
      { ref: "ep:1", text: "red tulip" },
    ]);
    expect((await service.search("a", "automobile", OPTIONS))[0]?.ref).toBe("mem:1");
    expect(await service.search("b", "automobile", OPTIONS)).toEqual([]);
    await service.remove("a", ["mem:1"]);
    await service.purge("a");
    expect(stub.requests.map(({ route, body }) => [route, body])).toEqual([
      [
        "index",
        {
          namespace: "cpersona:a",
          items: [
            { id: "mem:1", text: "green car" },
            { id: "ep:1", text: "red tulip" },
          ],
        },
      ],
      ["search", { namespace: "cpersona:a", query: "automobile", limit: 5, min_similarity: -1 }],
      ["search", { namespace: "cpersona:b", query: "automobile", limit: 5, min_similarity: -1 }],
      ["remove", { namespace: "cpersona:a", ids: ["mem:1"] }],
      ["purge", { namespace: "cpersona:a" }],
    ]);
  });

  it("gets user, password and query of the address, and nobody else does", async () => {
    const secret = open(stub.url.replace("http://", "http://kei:s3cret@").concat("?key=t0ken"));
    await secret.index("a", []);
    expect(stub.requests[0]?.authorization).toBe(`Basic ${Buffer.from("kei:s3cret").toString("base64")}`);
    stub.status = 500;
    const error = await secret.search("a", "q", OPTIONS).catch((caught: unknown) => caught);
    expect(String(error)).toContain("HTTP status 500");
    expect(`${error} ${secret.failure} ${secret.name}`).not.toMatch(/s3cret|t0ken|127\.0\.0\.1/);
    expect(secret.name).toBe(open().name);
  });

  it.each<[string, unknown]>([
    ["no results", {}],
    ["no list", { results: "mem:1" }],
    ["no object", { results: ["mem:1"] }],
    ["no id", { results: [{ score: 0.5 }] }],
    ["a number as id", { results: [{ id: 1, score: 0.5 }] }],
    ["an endless id", { results: [{ id: "x".repeat(65), score: 0.5 }] }],
    ["no score", { results: [{ id: "mem:1" }] }],
    ["a score in words", { results: [{ id: "mem:1", score: "high" }] }],
    ["a score that is no cosine", { results: [{ id: "mem:1", score: 17 }] }],
    ["null as score", { results: [{ id: "mem:1", score: null }] }],
  ])("is not believed with %s", async (_, answer) => {
    stub.instead = () => answer;
    await expect(open().search("a", "q", OPTIONS)).rejects.toMatchObject({
      code: "embedding_failed",
      reason: "misconfigured",
    });
  });

  it("may round a cosine past 1 and name a text twice", async () => {
    stub.instead = () => ({
      results: [
        { id: "mem:2", score: 0.2 },
        { id: "mem:1", score: 1.0000002 },
        { id: "mem:2", score: 0.4 },
      ],
    });
    expect(await open().search("a", "q", OPTIONS)).toEqual([
      { ref: "mem:1", score: 1 },
      { ref: "mem:2", score: 0.4 },
    ]);
  });

  it("refuses a write in its answer's words too", async () => {
    stub.instead = () => ({ ok: false });
    await expect(open().index("a", [])).rejects.toMatchObject({ reason: "misconfigured" });
  });

  it("is left alone after two failures, questions and writes each for themselves", async () => {
    let now = 0;
    const service = open(stub.url, () => now);
    stub.statusOf.index = 503;
    for (let i = 0; i < 4; i++) await service.index("a", []).catch(() => {});
    expect(stub.requests).toHaveLength(2);
    expect(service.failure).toContain("/index");
    expect(await service.search("a", "q", OPTIONS)).toEqual([]);
    stub.statusOf.index = 200;
    now = 6000;
    await service.index("a", []);
    expect(service.failure).toBeNull();
  });

  it("stays in use when it refuses single texts", async () => {
    const service = open();
    await service.purge("a");
    stub.statusOf.index = 422;
    for (let i = 0; i < 4; i++)
      await expect(service.index("a", [])).rejects.toMatchObject({ refusesTexts: true });
    expect(stub.requests).toHaveLength(5);
    expect(service.failure).toBeNull();
  });

  it("is not asked once it is closed, and a running question ends", async () => {
    const service = open();
    stub.delayMs = 60_000;
    const running = service.search("a", "q", OPTIONS);
    running.catch(() => {});
    await vi.waitFor(() => expect(stub.requests).toHaveLength(1));
    service.close();
    await expect(running).rejects.toThrow("closed");
    await expect(service.purge("a")).rejects.toThrow("closed");
  });
});
