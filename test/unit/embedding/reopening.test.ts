import { describe, expect, it } from "vitest";
import type { Embedder } from "../../../ts/embedding/embedder.js";
import { EmbeddingError } from "../../../ts/embedding/failure.js";
import { ReopeningEmbedder } from "../../../ts/embedding/reopening.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

const NAME = { query: "", document: "" };

/** Embedders that answer as the model that the "server" had first for them, and fail for another. */
function server({ isNameless = false } = {}) {
  const state = { model: "a", opened: 0, closed: 0, now: 0, hold: Promise.resolve() as Promise<unknown> };
  const open = (): Embedder => {
    state.opened++;
    let own: string | null = null;
    const embed = async (): Promise<Float32Array> => {
      const { model } = state;
      await state.hold;
      own ??= model;
      if (own !== model && !isNameless) throw new EmbeddingError("model_changed", "another model");
      return Float32Array.of(1);
    };
    return {
      identity: () =>
        own === null
          ? null
          : { provider: "http", model: isNameless ? "" : own, dimension: 1, prefixes: NAME },
      card: { fusionWeight: 1, centre: null, unrelatedCosine: null, languages: null, isContextual: false },
      embedQuery: embed,
      embedDocuments: async (texts) => Promise.all(texts.map(embed)),
      state: () => ({ status: own === null ? "unknown" : "ready" }),
      close: () => void state.closed++,
    };
  };
  const asked: number[] = [];
  const names = {
    answer: async (): Promise<string | null> => `name-${state.model}`,
  };
  const capabilities = {
    modelName: async ({ timeoutMs }: { timeoutMs: number }) => {
      asked.push(timeoutMs);
      return names.answer();
    },
  };
  return {
    state,
    asked,
    names,
    embedder: new ReopeningEmbedder({ open, capabilities, queryTimeoutMs: 2000, now: () => state.now }),
  };
}

describe("a server that changes its model", () => {
  it("is opened again under its new identity", async () => {
    const { state, embedder } = server();
    await embedder.embedQuery("x");
    expect(embedder.identity()?.model).toBe("a");
    state.model = "b";
    await expect(embedder.embedQuery("x")).rejects.toMatchObject({ reason: "model_changed" });
    expect(embedder.state()).toMatchObject({ status: "failing", reason: "model_changed" });
    await turn();
    expect(embedder.identity()).toBeNull();
    expect(embedder.state()).toEqual({ status: "unknown" });
    await embedder.embedDocuments(["x"]);
    expect(embedder.identity()?.model).toBe("b");
    expect(state).toMatchObject({ opened: 2, closed: 1 });
  });

  it("keeps its old identity until every running call has ended", async () => {
    const { state, embedder } = server();
    await embedder.embedQuery("x");
    let release = (): void => {};
    state.hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const running = embedder.embedQuery("y");
    state.model = "b";
    state.hold = Promise.resolve();
    await expect(embedder.embedQuery("z")).rejects.toMatchObject({ reason: "model_changed" });
    await turn();
    await expect(embedder.embedDocuments(["next batch"])).rejects.toMatchObject({ reason: "model_changed" });
    await turn();
    expect(embedder.identity()?.model).toBe("a");
    release();
    await running;
    expect(embedder.identity()?.model).toBe("a");
    await turn();
    expect(embedder.identity()).toBeNull();
  });

  it("is followed at a slow pace when it goes on changing", async () => {
    const { state, embedder } = server();
    await embedder.embedQuery("x");
    for (let i = 0; i < 10; i++) {
      state.model = i % 2 === 0 ? "b" : "a";
      await embedder.embedQuery("x").catch(() => {});
      await turn();
    }
    expect(state.opened).toBe(2);
    state.now = 10_000;
    await embedder.embedQuery("x").catch(() => {});
    await turn();
    expect(state.opened).toBe(3);
  });

  it("is not opened again once it is closed", async () => {
    const { state, embedder } = server();
    await embedder.embedQuery("x");
    state.model = "b";
    const failing = embedder.embedQuery("x");
    embedder.close();
    await expect(failing).rejects.toThrow();
    await turn();
    expect(state.opened).toBe(1);
  });
});

describe("a server whose answers name no model", () => {
  const down = (): Promise<never> => Promise.reject(new EmbeddingError("unreachable", "gone"));

  it("is known by its fingerprint, and has no identity before", async () => {
    const { embedder } = server({ isNameless: true });
    expect(embedder.identity()).toBeNull();
    await embedder.embedQuery("x");
    expect(embedder.identity()?.model).toBe("name-a");
  });

  it("is used all the same when the route of its fingerprint fails, and keeps the name it had", async () => {
    const without = server({ isNameless: true });
    without.names.answer = down;
    await without.embedder.embedQuery("x");
    expect(without.embedder.identity()?.model).toBe("");
    const { state, embedder, names } = server({ isNameless: true });
    await embedder.embedDocuments(["x"]);
    names.answer = down;
    state.now = 31_000;
    await embedder.embedDocuments(["x"]);
    expect(embedder.identity()?.model).toBe("name-a");
  });

  it("keeps an empty name where it has no fingerprint", async () => {
    const { embedder, names, asked } = server({ isNameless: true });
    names.answer = async () => null;
    await embedder.embedDocuments(["x"]);
    await embedder.embedDocuments(["x"]);
    expect(embedder.identity()?.model).toBe("");
    expect(asked).toHaveLength(1);
  });

  it("is asked again before vectors are kept, and after a failure", async () => {
    const { state, embedder, asked } = server({ isNameless: true });
    await embedder.embedDocuments(["x"]);
    state.now = 29_000;
    await embedder.embedDocuments(["x"]);
    expect(asked).toHaveLength(1);
    state.now = 31_000;
    await embedder.embedQuery("x");
    expect(asked).toHaveLength(1);
    await embedder.embedDocuments(["x"]);
    expect(asked).toHaveLength(2);
    state.hold = down();
    await expect(embedder.embedQuery("x")).rejects.toThrow("gone");
    state.hold = Promise.resolve();
    await embedder.embedQuery("x");
    expect(asked).toHaveLength(3);
  });

  it("hands out no vector of another model of the same width", async () => {
    const { state, embedder } = server({ isNameless: true });
    await embedder.embedDocuments(["x"]);
    state.model = "b";
    state.now = 31_000;
    await expect(embedder.embedDocuments(["x"])).rejects.toMatchObject({ reason: "model_changed" });
    await turn();
    expect(embedder.identity()).toBeNull();
    await embedder.embedDocuments(["x"]);
    expect(embedder.identity()?.model).toBe("name-b");
  });

  it("is not asked where the answers have a name", async () => {
    const { embedder, asked } = server();
    await embedder.embedDocuments(["x"]);
    expect(asked).toEqual([]);
  });
});
