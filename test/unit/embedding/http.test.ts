import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BackendEmbedder, type BackendEmbedderOptions } from "../../../ts/embedding/backend-embedder.js";
import { identityKey } from "../../../ts/embedding/embedder.js";
import { RemoteBackend } from "../../../ts/embedding/remote/remote-backend.js";
import { EMBED_WIRE } from "../../../ts/embedding/remote/wire.js";
import { type EmbedHandler, type EmbedServer, goodAnswer, startEmbedServer } from "./embed-server.js";

let server: EmbedServer;
let now = 0;
const opened: BackendEmbedder[] = [];

function open(overrides: Partial<BackendEmbedderOptions & { url: string }> = {}): BackendEmbedder {
  const url = overrides.url ?? server.url;
  const embedder = new BackendEmbedder({
    backend: new RemoteBackend({ provider: "http", url, key: "", wire: EMBED_WIRE }),
    card: { fusionWeight: 1, centre: null, unrelatedCosine: null, languages: null, isContextual: true },
    model: "",
    queryTimeoutMs: 20_000,
    documentTimeoutMs: 20_000,
    cacheSize: 256,
    cacheTtlMs: 300_000,
    now: () => now,
    ...overrides,
  });
  opened.push(embedder);
  return embedder;
}

function failed(reason: string, message = /./) {
  return { code: "embedding_failed", reason, message: expect.stringMatching(message) };
}

beforeEach(async () => {
  now = 1_000;
  server = await startEmbedServer();
});
afterEach(async () => {
  for (const embedder of opened.splice(0)) embedder.close();
  await server.close();
});

describe("the http embedder", () => {
  it("gives unit vectors and learns its identity with the first answer", async () => {
    const embedder = open();
    expect(embedder.identity()).toBeNull();
    expect(embedder.state()).toEqual({ status: "unknown" });
    expect(await embedder.embedQuery("abc")).toEqual(Float32Array.of(3 / Math.sqrt(10), 1 / Math.sqrt(10)));
    expect(embedder.state()).toEqual({ status: "ready" });
    const identity = embedder.identity();
    expect(identity && identityKey(identity)).toBe("http:stub:2");
  });

  it("names the model by the setting when the server does not, and cleans what the server says", async () => {
    server.handler = ({ texts }) => ({ embeddings: texts.map(() => [1]) });
    const unnamed = open();
    await unnamed.embedQuery("a");
    expect(unnamed.identity()).toMatchObject({ model: "", dimension: 1 });
    const named = open({ model: "bge-m3" });
    await named.embedQuery("a");
    expect(named.identity()).toMatchObject({ model: "bge-m3" });
    server.handler = ({ texts }) => ({ embeddings: texts.map(() => [1]), model: "\u001b[2Jbad\nname" });
    const told = open({ model: "bge-m3" });
    await told.embedQuery("a");
    expect(told.identity()).toMatchObject({ model: "[2Jbadname" });
  });

  it("sends at most 64 texts a request, in order, and never a blank one", async () => {
    const texts = Array.from({ length: 131 }, (_, i) => (i === 70 ? " \n" : "x".repeat(i + 1)));
    const vectors = await open().embedDocuments(texts);
    expect(server.requests.map((request) => request.texts.length)).toEqual([64, 64, 2]);
    expect(vectors).toHaveLength(131);
    vectors.forEach((vector, i) => {
      if (i === 70) expect(vector).toBeNull();
      else expect((vector?.[0] ?? 0) / (vector?.[1] ?? 0)).toBeCloseTo(i + 1, 3);
    });
    expect(await open().embedDocuments([])).toEqual([]);
    expect(await open().embedQuery("  ")).toBeNull();
    expect(server.requests).toHaveLength(3);
  });

  it("keeps its connections alive", async () => {
    const ports = new Set<number | undefined>();
    server.handler = (request, response) => {
      ports.add(response.socket?.remotePort);
      return goodAnswer(request, response);
    };
    const embedder = open();
    for (let i = 0; i < 20; i++) await embedder.embedQuery(`question ${i}`);
    // `fetch` may open a second connection while the first one is still being handed back.
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  it("turns a vector without direction into null", async () => {
    server.handler = () => ({
      embeddings: [
        [0, 0],
        [1e-10, 0],
        [3, 4],
        [1e38, 1e38],
      ],
    });
    const [zero, tiny, good, large] = await open().embedDocuments(["a", "b", "c", "d"]);
    expect([zero, tiny]).toEqual([null, null]);
    expect(good).toEqual(Float32Array.of(0.6, 0.8));
    expect(large?.[0]).toBeCloseTo(Math.SQRT1_2);
  });

  const nonsense: [string, EmbedHandler][] = [
    ["too few vectors", () => ({ embeddings: [] })],
    ["too many vectors", () => ({ embeddings: [[1], [1]] })],
    ["no embeddings", () => ({ data: [[1]] })],
    ["null", () => "null"],
    ["a list", () => "[[1]]"],
    ["NaN", () => '{"embeddings":[[NaN]]}'],
    ["a missing number", () => ({ embeddings: [[1, null]] })],
    ["a number as text", () => ({ embeddings: [["1"]] })],
    ["more than float32 holds", () => ({ embeddings: [[1e39]] })],
    ["an infinite number", () => '{"embeddings":[[1e999]]}'],
    ["an empty vector", () => ({ embeddings: [[]] })],
    ["a vector that is none", () => ({ embeddings: [{ length: 1 }] })],
    ["too wide a vector", () => ({ embeddings: [new Array(16_385).fill(1)] })],
    ["half an answer", () => '{"embeddings":[[1'],
    ["an empty body", () => ""],
    ["status 404", () => 404],
    ["a redirect", () => 307],
  ];
  it.each(nonsense)("refuses %s", async (_, handler) => {
    server.handler = handler;
    const embedder = open();
    await expect(embedder.embedQuery("a")).rejects.toMatchObject(failed("misconfigured"));
    expect(embedder.identity()).toBeNull();
    expect(server.requests).toHaveLength(1);
  });

  it("refuses rows of unequal length", async () => {
    server.handler = () => ({ embeddings: [[1, 0], [1]] });
    await expect(open().embedDocuments(["a", "b"])).rejects.toMatchObject(failed("misconfigured"));
  });

  it("refuses more than 64 MiB while they arrive", async () => {
    server.handler = async (_, response) => {
      const spaces = Readable.from(Array.from({ length: 80 }, () => Buffer.alloc(1024 * 1024, " ")));
      await pipeline(spaces, response).catch(() => {});
      return undefined;
    };
    const embedder = open({ queryTimeoutMs: 20_000 });
    await expect(embedder.embedQuery("a")).rejects.toMatchObject(failed("misconfigured", /64 MiB/));
  });

  it("refuses another width or another model than the first answer's", async () => {
    const embedder = open();
    await embedder.embedQuery("a");
    server.handler = () => ({ embeddings: [[1, 2, 3]], model: "stub" });
    await expect(embedder.embedQuery("b")).rejects.toMatchObject(failed("model_changed", /2 to 3/));
    server.handler = () => ({ embeddings: [[1, 2]], model: "other" });
    await expect(embedder.embedQuery("c")).rejects.toMatchObject(failed("model_changed"));
    expect(embedder.state()).toMatchObject({ status: "failing", reason: "model_changed" });
    expect(embedder.identity()).toMatchObject({ model: "stub", dimension: 2 });
  });

  it.each([500, 503, 429])("counts status %i as unreachable", async (status) => {
    server.handler = () => status;
    await expect(open().embedQuery("a")).rejects.toMatchObject(
      failed("unreachable", new RegExp(`${status}`)),
    );
  });

  it("gives up on a slow answer, and on a slow body", async () => {
    server.handler = () => undefined;
    const embedder = open({ queryTimeoutMs: 50, documentTimeoutMs: 80 });
    await expect(embedder.embedQuery("a")).rejects.toMatchObject(failed("unreachable", / 50 ms/));
    server.handler = (_, response) => {
      response.write("{");
      return undefined;
    };
    await expect(embedder.embedDocuments(["a"])).rejects.toMatchObject(failed("unreachable", / 80 ms/));
  });

  it("reports a dead port, and a broken connection", async () => {
    server.handler = (_, response) => {
      response.destroy();
      return undefined;
    };
    await expect(open().embedQuery("a")).rejects.toMatchObject(failed("unreachable"));
    const { url } = server;
    await server.close();
    await expect(open({ url }).embedQuery("a")).rejects.toMatchObject(failed("unreachable", /ECONNREFUSED/));
    server = await startEmbedServer();
  });

  it("asks again where the server closes the connection that was kept, and once only", async () => {
    const embedder = open();
    await embedder.embedQuery("first");
    const [kept] = server.requests;
    const hangUp = (times: number): EmbedHandler => {
      let left = times;
      return (request, response) => {
        if (left-- <= 0) return goodAnswer(request, response);
        response.socket?.resetAndDestroy();
        return undefined;
      };
    };
    server.handler = hangUp(1);
    expect(await embedder.embedQuery("second")).not.toBeNull();
    expect(server.requests).toHaveLength(3);
    expect(kept?.headers.connection).toBe("keep-alive");
    server.handler = hangUp(2);
    await expect(embedder.embedQuery("third")).rejects.toMatchObject(failed("unreachable", /ECONNRESET/));
  });

  it.each(["", "not a url", "file:///etc/passwd"])("is misconfigured with the address '%s'", async (url) => {
    const embedder = open({ url });
    expect(embedder.state()).toMatchObject({ status: "failing", reason: "misconfigured" });
    await expect(embedder.embedQuery("a")).rejects.toMatchObject(failed("misconfigured"));
  });

  it("sends the URL's password as a header, and leaks neither it nor the query string", async () => {
    const secret = server.url.replace("http://", "http://us%40er:p%C3%A4ss@");
    const embedder = open({ url: `${secret}?key=hidden#part` });
    await embedder.embedQuery("a");
    expect(server.requests[0]?.url).toBe("/embed?key=hidden");
    const sent = server.requests[0]?.headers.authorization?.replace("Basic ", "") ?? "";
    expect(Buffer.from(sent, "base64").toString()).toBe("us@er:päss");

    const handlers: EmbedHandler[] = [
      () => 500,
      () => 401,
      () => "junk",
      () => undefined,
      (_, response) => {
        response.destroy();
        return undefined;
      },
    ];
    for (const handler of handlers) {
      server.handler = handler;
      const failing = open({ url: `${secret}?key=hidden`, queryTimeoutMs: 50 });
      for (const text of ["b", "c", "d"]) {
        const error = await failing.embedQuery(text).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(Error);
        const shown = `${(error as Error).stack}${JSON.stringify([error, failing.state()])}`;
        expect(shown).not.toMatch(/hidden|p%C3|päss|us%40er|us@er|secret page|junk/);
        expect((error as Error).cause).toBeUndefined();
      }
      expect(failing.state()).toMatchObject({ status: "failing" });
    }
  });

  it("rejects running and later calls when it is closed", async () => {
    server.handler = () => undefined;
    const embedder = open();
    const running = embedder.embedQuery("a");
    running.catch(() => {});
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    embedder.close();
    await expect(running).rejects.toMatchObject({ code: "embedding_failed", message: /closed/ });
    await expect(embedder.embedDocuments(["a"])).rejects.toMatchObject({ message: /closed/ });
    expect(embedder.state()).toEqual({ status: "unknown" });
  });
});

describe("its cache of questions", () => {
  it("asks once for identical concurrent questions", async () => {
    const embedder = open();
    const answers = await Promise.all([
      embedder.embedQuery("same"),
      embedder.embedQuery("same"),
      embedder.embedQuery("other"),
    ]);
    expect(server.requests).toHaveLength(2);
    expect(answers[0]).toBe(answers[1]);
  });

  it("shares a failure among concurrent questions, and does not cache it", async () => {
    server.handler = () => 500;
    const embedder = open();
    const answers = await Promise.allSettled([embedder.embedQuery("q"), embedder.embedQuery("q")]);
    expect(answers.map((answer) => answer.status)).toEqual(["rejected", "rejected"]);
    expect(server.requests).toHaveLength(1);
    server.handler = goodAnswer;
    await expect(embedder.embedQuery("q")).resolves.not.toBeNull();
  });

  it("keeps an answer for its time, null included", async () => {
    server.handler = () => ({ embeddings: [[0, 0]] });
    const embedder = open({ cacheTtlMs: 1_000 });
    expect(await embedder.embedQuery("a")).toBeNull();
    now += 999;
    expect(await embedder.embedQuery("a")).toBeNull();
    expect(server.requests).toHaveLength(1);
    now += 1;
    await embedder.embedQuery("a");
    expect(server.requests).toHaveLength(2);
  });

  it("drops the least recently used", async () => {
    const embedder = open({ cacheSize: 2 });
    for (const text of ["a", "b", "a", "c", "a"]) await embedder.embedQuery(text);
    expect(server.requests.map((request) => request.texts[0])).toEqual(["a", "b", "c"]);
    await embedder.embedQuery("b");
    expect(server.requests).toHaveLength(4);
  });

  it("can be switched off", async () => {
    const embedder = open({ cacheSize: 0 });
    await embedder.embedQuery("a");
    await embedder.embedQuery("a");
    expect(server.requests).toHaveLength(2);
  });

  it("answers while the backend is left alone", async () => {
    const embedder = open();
    const vector = await embedder.embedQuery("known");
    server.handler = () => 500;
    for (const text of ["x", "y"]) await embedder.embedQuery(text).catch(() => {});
    expect(embedder.state()).toMatchObject({ status: "failing" });
    expect(await embedder.embedQuery("known")).toBe(vector);
  });
});

describe("its circuit breaker", () => {
  async function fail(embedder: BackendEmbedder, text: string): Promise<number> {
    const before = server.requests.length;
    await expect(embedder.embedQuery(text)).rejects.toMatchObject({ code: "embedding_failed" });
    return server.requests.length - before;
  }

  it("opens after two failures, probes once after a pause that doubles to a minute, closes on success", async () => {
    server.handler = () => 500;
    const embedder = open();
    expect(await fail(embedder, "a")).toBe(1);
    expect(embedder.state()).toEqual({ status: "unknown" });
    expect(await fail(embedder, "b")).toBe(1);
    expect(embedder.state()).toMatchObject({ status: "failing", reason: "unreachable" });
    for (const pause of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      now += pause - 1;
      expect(await fail(embedder, "c")).toBe(0);
      now += 1;
      expect(await fail(embedder, "d")).toBe(1);
      expect(await fail(embedder, "e")).toBe(0);
    }
    server.handler = goodAnswer;
    now += 60_000;
    await expect(embedder.embedQuery("f")).resolves.not.toBeNull();
    expect(embedder.state()).toEqual({ status: "ready" });
    server.handler = () => 500;
    expect(await fail(embedder, "g")).toBe(1);
    expect(embedder.state()).toEqual({ status: "ready" });
    expect(await fail(embedder, "h")).toBe(1);
    now += 4_999;
    expect(await fail(embedder, "i")).toBe(0);
  });

  it("lets one call probe while the others fail at once", async () => {
    server.handler = () => 500;
    const embedder = open();
    await fail(embedder, "a");
    await fail(embedder, "b");
    now += 5_000;
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    server.handler = async (request, response) => {
      await held;
      return goodAnswer(request, response);
    };
    const probe = embedder.embedQuery("probe");
    expect(await fail(embedder, "other")).toBe(0);
    answer();
    await expect(probe).resolves.not.toBeNull();
    expect(server.requests).toHaveLength(3);
    await expect(embedder.embedQuery("other")).resolves.not.toBeNull();
  });

  it("counts failures of calls that ran together once", async () => {
    server.handler = () => 500;
    const embedder = open();
    await Promise.allSettled(["a", "b", "c", "d"].map((text) => embedder.embedQuery(text)));
    now += 5_000;
    expect(await fail(embedder, "e")).toBe(1);
  });
});
