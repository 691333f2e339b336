// What keys a row: signals, confidence, autocut and the gates.

import { afterAll, beforeAll, describe, expect } from "vitest";
import { startInProcess, type ToolCaller } from "../support/client.js";
import { type EmbedStub, startEmbedStub } from "../support/embed-stub.js";
import type { Settings } from "../support/settings.js";
import { ask, put, texts } from "./calls.js";
import { ALONE, CONFIDENT, embeddedBy, MODES, UNCUT } from "./modes.js";
import { verifies } from "./verifies.js";

let stub: EmbedStub;
beforeAll(async () => {
  stub = await startEmbedStub();
});
afterAll(() => stub.close());

async function storing(contents: readonly string[], settings: Settings = {}): Promise<ToolCaller> {
  const tools = await startInProcess({ settings: embeddedBy(stub, { ...ALONE, ...settings }) });
  for (const content of contents) await put(tools, content);
  return tools;
}

const signals = async (tools: ToolCaller, query: string): Promise<string[]> =>
  (await ask(tools, query)).map((row) => row["match_reason"]?.signal ?? "none");

describe("match_reason", () => {
  const rows = ["automobile red", "car red"];
  for (const [mode, signal, parts] of [
    ["rrf", "cosine", ["cosine", "rrf", "score", "signal"]],
    ["rsf", "rsf", ["cosine", "rsf", "score", "signal"]],
    ["cascade", "cosine", ["cosine", "score", "signal"]],
  ] as const)
    verifies("signal.priority", `${mode}, with cosines`, async () => {
      const tools = await storing(rows, { CPERSONA_RECALL_MODE: mode });
      for (const row of await ask(tools, "car red")) {
        expect(row["match_reason"].signal).toBe(signal);
        expect(Object.keys(row["match_reason"]).sort()).toEqual(parts);
      }
    });

  for (const [name, settings] of MODES.filter(([mode]) => mode.startsWith("confidence")))
    verifies("signal.priority", name, async () => {
      expect(await signals(await storing(rows, settings), "car red")).toEqual(["confidence", "confidence"]);
    });

  for (const [mode, signal] of [
    ["rrf", "rrf"],
    ["rsf", "rsf"],
  ] as const)
    verifies("signal.priority", `${mode}, without an embedder`, async () => {
      const tools = await storing(rows, { CPERSONA_EMBEDDING_MODE: "none", CPERSONA_RECALL_MODE: mode });
      expect(await signals(tools, "red")).toEqual([signal, signal]);
    });

  verifies("signal.only-on-scored-rows", "cascade without an embedder", async () => {
    const tools = await storing(rows, { CPERSONA_EMBEDDING_MODE: "none", CPERSONA_RECALL_MODE: "cascade" });
    for (const row of await ask(tools, "red")) expect(row).not.toHaveProperty("match_reason");
    expect(await texts(tools, "red")).toHaveLength(2);
  });

  verifies("signal.only-on-scored-rows", "cascade, a keyword row behind the window", async () => {
    const settings = { CPERSONA_RECALL_MODE: "cascade", CPERSONA_MAX_MEMORIES: "2" };
    const tools = await storing(["red carpet", "red bicycle", "tulip bed"], settings);
    const found = await ask(tools, "red");
    expect(found.map(({ content }) => content)).toEqual(["red carpet", "red bicycle"]);
    expect(found[0]).not.toHaveProperty("match_reason");
    expect(found[1]).toHaveProperty("match_reason.signal", "cosine");
  });
});

describe("confidence", () => {
  const contents = ["car", "car red", "car red chain", "red bicycle chain", "red", "blue automobile chain"];

  verifies("confidence.orders", "rrf and rsf alike", async () => {
    const answers = [];
    for (const mode of ["rrf", "rsf"])
      answers.push(
        (
          await ask(
            await storing(contents, { CPERSONA_RECALL_MODE: mode, ...CONFIDENT, ...UNCUT }),
            "car red",
          )
        ).map(({ ref, confidence }) => [ref, confidence]),
      );
    expect(answers[0]?.length).toBeGreaterThan(2);
    expect(answers[1]).toEqual(answers[0]);
  });

  for (const [name, settings] of MODES.filter(([mode]) => mode.startsWith("confidence")))
    verifies("confidence.orders", `${name}, ascending`, async () => {
      const rows = await ask(await storing(contents, { ...settings, ...UNCUT }), "car red");
      const scores = rows.map((row) => row["confidence"].score as number);
      expect(scores).toEqual([...scores].sort((a, b) => a - b));
      expect(rows.map((row) => row["match_reason"].score)).toEqual(scores);
    });

  verifies("confidence.is-no-match-strength", async () => {
    const tools = await storing([], CONFIDENT);
    await put(tools, "car red", { timestamp: "2020-01-01T00:00:00Z" });
    await put(tools, "car red chain");
    expect(await texts(tools, "car red")).toEqual(["car red", "car red chain"]);
    const without = await storing([]);
    await put(without, "car red", { timestamp: "2020-01-01T00:00:00Z" });
    await put(without, "car red chain");
    expect((await texts(without, "car red")).at(-1)).toBe("car red");
  });

  verifies("confidence.gates", async () => {
    const both = ["automobile", FAINT];
    expect((await texts(await storing(both), "car")).sort()).toEqual([...both].sort());
    const tools = await storing(both, FAINT_CONFIDENT);
    const answer = await tools.call("recall", { agent_id: "agent-a", query: "car" });
    expect(answer["messages"]).toMatchObject([{ content: "automobile" }]);
    expect(answer).not.toHaveProperty("gate_fallback");
  });
});

/** Holds the query's word among so many others that its cosine lies below the gate of confidence. */
const FAINT_CONFIDENT = { ...CONFIDENT, CPERSONA_COSINE_FLOOR: "0.33" };
const FAINT = "car tulip soil bed garden water spade seed plant root leaf stem bloom petal";

describe("the gates", () => {
  verifies("gate.fallback-only-with-confidence", "on", async () => {
    const tools = await storing([FAINT], FAINT_CONFIDENT);
    const answer = await tools.call("recall", { agent_id: "agent-a", query: "car" });
    expect(answer).toMatchObject({ gate_fallback: true, messages: [{ content: FAINT }] });
    const nothing = await tools.call("recall", { agent_id: "agent-a", query: "xylophone quasar" });
    expect(nothing["messages"]).toEqual([]);
    expect(nothing).not.toHaveProperty("gate_fallback");
  });

  verifies("gate.fallback-only-with-confidence", "on, with a conversation", async () => {
    const ask = { agent_id: "agent-a", query: "car", external_context: [] };
    const answer = await (await storing([FAINT], FAINT_CONFIDENT)).call("recall_with_context", ask);
    expect(answer).toMatchObject({ gate_fallback: true, messages: [{ content: FAINT }] });
  });

  for (const mode of ["rrf", "rsf", "cascade"])
    verifies("gate.fallback-only-with-confidence", `off, ${mode}`, async () => {
      const tools = await storing([FAINT], { CPERSONA_RECALL_MODE: mode });
      for (const query of ["car", "xylophone quasar"])
        expect(await tools.call("recall", { agent_id: "agent-a", query })).not.toHaveProperty(
          "gate_fallback",
        );
    });

  for (const [name, settings] of MODES)
    verifies("gate.unrelated-before-calibration", name, async () => {
      for (const rows of [1, 2, 5, 40]) {
        const contents = Array.from({ length: rows }, (_, i) => `tulip bed number ${i} needs water`);
        const tools = await storing(contents, settings);
        for (const query of ["xylophone quasar", "木琴と準星"])
          expect([rows, query, await texts(tools, query)]).toEqual([rows, query, []]);
      }
    });

  for (const precision of ["strict", "balanced", "lenient"])
    verifies("gate.keyword-hits-after-calibration", `every mode of fusion, ${precision}`, async () => {
      for (const mode of ["rrf", "rsf", "cascade"]) {
        const contents = Array.from({ length: 60 }, (_, i) => `note ${i} about gardening tulips soil`);
        const tools = await storing(contents, { CPERSONA_RECALL_MODE: mode, ...UNCUT });
        const odd = ["the flux capacitor hums in the cellar of the old house", "鍵は東京の金庫に入れてある"];
        for (const text of odd) await put(tools, text);
        const call = (tool: string, more: object = {}) => tools.call(tool, { agent_id: "agent-a", ...more });
        expect(await call("calibrate_threshold")).toMatchObject({ ok: true });
        expect(await call("set_recall_precision", { precision })).toMatchObject({ ok: true });
        expect([mode, (await texts(tools, "capacitor")).at(-1)]).toEqual([mode, odd[0]]);
        expect([mode, (await texts(tools, "金庫")).at(-1)]).toEqual([mode, odd[1]]);
      }
    });

  verifies("recall.deep", "age, under confidence", async () => {
    const score = async (deep: boolean): Promise<number> => {
      const tools = await storing([], CONFIDENT);
      await put(tools, "car red", { timestamp: "2020-01-01T00:00:00Z" });
      return (await ask(tools, "car red", { deep }))[0]?.["confidence"].score as number;
    };
    expect(await score(false)).toBeCloseTo(Math.sqrt(0.3), 4);
    expect(await score(true)).toBe(1);
  });

  verifies("recall.deep", "the gate, under confidence", async () => {
    const ask = { agent_id: "agent-a", query: "car", deep: true };
    const answer = await (await storing([FAINT], FAINT_CONFIDENT)).call("recall", ask);
    expect(answer["messages"]).toHaveLength(1);
    expect(answer).not.toHaveProperty("gate_fallback");
  });

  verifies("recall.deep", "the gate, by meaning", async () => {
    const text = FAINT.replace("car", "automobile");
    const tools = await storing([text], { CPERSONA_VECTOR_MIN_SIMILARITY: "0.5" });
    expect(await texts(tools, "car")).toEqual([]);
    expect(await texts(tools, "car", { deep: true })).toEqual([text]);
  });
});

describe("autocut", () => {
  const near = ["automobile automobile automobile red", "automobile automobile automobile green"];
  const far = "automobile one two three four";
  const contents = [...near, far];
  const eager = { CPERSONA_AUTOCUT_MIN_RESULTS: "2", CPERSONA_AUTOCUT_MIN_GAP_RATIO: "0.01" };
  const cascade = { CPERSONA_RECALL_MODE: "cascade" };

  const cutsAtTheGap = (settings: Settings) => async () => {
    const found = async (more: Settings, rows: readonly string[] = contents) =>
      (await texts(await storing(rows, { ...settings, ...more }), "car")).sort();
    expect(await found({})).toEqual([...near].sort());
    expect(await found(UNCUT)).toEqual([...contents].sort());
    expect(await found({ CPERSONA_AUTOCUT_MIN_GAP_RATIO: "0.9" })).toHaveLength(3);
    expect(await found({ CPERSONA_AUTOCUT_MIN_RESULTS: "4" })).toHaveLength(3);
    expect(await found({}, [near[0] as string, far])).toHaveLength(2);
  };
  verifies("autocut.pure-cosine", "cascade", cutsAtTheGap(cascade));
  verifies("autocut.under-confidence", "rrf", cutsAtTheGap(CONFIDENT));
  verifies("autocut.under-confidence", "cascade", cutsAtTheGap({ ...CONFIDENT, ...cascade }));

  verifies("autocut.pure-cosine", "a row without a cosine keeps the list whole", async () => {
    const tools = await storing(["car keys", ...contents], { ...cascade, CPERSONA_MAX_MEMORIES: "4" });
    await put(tools, "tulip bed");
    expect((await texts(tools, "car")).sort()).toEqual(["car keys", ...contents].sort());
  });

  for (const mode of ["rrf", "rsf"])
    verifies("autocut.inert-in-fusion", mode, async () => {
      const rows = async (settings: Settings) =>
        ask(await storing(contents, { CPERSONA_RECALL_MODE: mode, ...settings }), "car");
      expect(await rows(eager)).toHaveLength(3);
      expect(await rows(eager)).toEqual(await rows(UNCUT));
    });
});
