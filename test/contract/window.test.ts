// How far search by meaning looks back. The query shares no word with the rows, so that only meaning finds them.

import { afterAll, beforeAll, describe, expect } from "vitest";
import { startInProcess, type ToolCaller } from "../support/client.js";
import { type EmbedStub, startEmbedStub } from "../support/embed-stub.js";
import type { Settings } from "../support/settings.js";
import { ask, put, texts } from "./calls.js";
import { ALONE, embeddedBy } from "./modes.js";
import { verifies } from "./verifies.js";

let stub: EmbedStub;
beforeAll(async () => {
  stub = await startEmbedStub();
});
afterAll(() => stub.close());

/** A memory with these texts, oldest first, a second apart. */
async function storing(contents: readonly string[], settings: Settings): Promise<ToolCaller> {
  const tools = await startInProcess({ settings: embeddedBy(stub, { ...ALONE, ...settings }) });
  for (const content of contents) {
    await put(tools, content);
    tools.clock.advance(1000);
  }
  return tools;
}

const fillers = (count: number): string[] => Array.from({ length: count }, (_, i) => `tulip bed number ${i}`);
const OLD = ["automobile", "automobile green", "automobile blue parked"];

describe("the window", () => {
  verifies("window.newest-rows", "one row more or less", async () => {
    const contents = ["automobile", ...fillers(3)];
    expect(await texts(await storing(contents, { CPERSONA_MAX_MEMORIES: "4" }), "car")).toEqual([
      "automobile",
    ]);
    expect(await texts(await storing(contents, { CPERSONA_MAX_MEMORIES: "3" }), "car")).toEqual([]);
  });

  verifies("window.newest-rows", "rows of other scopes take no place", async () => {
    const tools = await storing([], { CPERSONA_MAX_MEMORIES: "3" });
    await put(tools, "automobile", { project_id: "mine" });
    for (const content of fillers(5)) await put(tools, content, { project_id: "other" });
    for (const content of fillers(5)) await tools.call("store", { agent_id: "agent-b", content });
    expect(await texts(tools, "car", { project_id: "mine" })).toEqual(["automobile"]);
    expect(await texts(tools, "car")).toEqual([]);
  });

  verifies("window.memories-and-episodes-each", async () => {
    const tools = await storing([], { CPERSONA_MAX_MEMORIES: "3" });
    const archive = (summary: string) =>
      tools.call("archive_episode", { agent_id: "agent-a", summary, history: [] });
    await put(tools, "automobile");
    await archive("automobile episode");
    for (const text of fillers(2)) {
      await put(tools, text);
      await archive(`episode of ${text}`);
    }
    const found = async () => (await ask(tools, "car")).map(({ ref }) => ref).sort();
    expect(await found()).toEqual(["ep:1", "mem:1"]);
    await put(tools, "one memory more");
    expect(await found()).toEqual(["ep:1"]);
  });

  verifies("window.words-reach-further", "in every mode", async () => {
    for (const mode of ["rrf", "rsf", "cascade"]) {
      const settings = { CPERSONA_MAX_MEMORIES: "2", CPERSONA_RECALL_MODE: mode };
      expect(await texts(await storing(["automobile", ...fillers(4)], settings), "automobile")).toContain(
        "automobile",
      );
    }
  });
});

describe("the reach", () => {
  // The window also bounds the answer, so it is wide enough for all rows that are to be found.
  const contents = [...OLD, ...fillers(4)];

  for (const mode of ["rrf", "rsf"]) {
    const settings = { CPERSONA_MAX_MEMORIES: "4", CPERSONA_RECALL_MODE: mode };

    verifies("window.far-list", `${mode}, up to the reach`, async () => {
      const far = async (reach: string) =>
        (await texts(await storing(contents, { ...settings, CPERSONA_VECTOR_REACH: reach }), "car")).sort();
      expect(await far("0")).toEqual([]);
      expect(await far("5")).toEqual([OLD[2]]);
      expect(await far("6")).toEqual([OLD[2], OLD[1]].sort());
      expect(await far("100")).toEqual([...OLD].sort());
    });

    verifies("window.far-limit", `${mode}, the best of the list`, async () => {
      const found = async (farLimit: string, limit: number) => {
        const reach = { CPERSONA_VECTOR_REACH: "100", CPERSONA_VECTOR_FAR_LIMIT: farLimit };
        return texts(await storing(contents, { ...settings, ...reach }), "car", { limit });
      };
      expect(await found("1", 10)).toEqual(["automobile"]);
      expect(await found("2", 10)).toEqual(["automobile green", "automobile"]);
      expect(await found("0", 10)).toHaveLength(3);
      expect(await found("50", 2)).toHaveLength(2);
    });

    verifies("window.reach-beyond-window", `${mode}, smaller than the window`, async () => {
      const small = { ...settings, CPERSONA_VECTOR_REACH: "3" };
      expect(await texts(await storing(contents, small), "car")).toEqual([]);
    });
  }

  verifies("window.cascade-ignores-reach", "the answer is the same", async () => {
    const settings = { CPERSONA_MAX_MEMORIES: "4", CPERSONA_RECALL_MODE: "cascade" };
    const near = [...OLD, "automobile red", ...fillers(3)];
    const rows = await ask(await storing(near, settings), "car");
    expect(rows.map(({ content }) => content)).toEqual(["automobile red"]);
    expect(await ask(await storing(near, { ...settings, CPERSONA_VECTOR_REACH: "100" }), "car")).toEqual(
      rows,
    );
  });

  verifies("window.far-list-adds-only", async () => {
    const all = [...OLD, "automobile red", "automobile black", ...fillers(3)];
    const settings = { CPERSONA_MAX_MEMORIES: "5" };
    const near = await ask(await storing(all, settings), "car");
    const both = await ask(await storing(all, { ...settings, CPERSONA_VECTOR_REACH: "100" }), "car");
    expect(near).toHaveLength(2);
    expect(both).toHaveLength(5);
    for (const row of near) expect(both).toContainEqual(row);
  });

  verifies("window.rsf-counts-the-far-list", async () => {
    const settings = { CPERSONA_MAX_MEMORIES: "4", CPERSONA_RECALL_MODE: "rsf" };
    const scoreOf = async (reach: string): Promise<number> => {
      const tools = await storing([...OLD, "automobile red", ...fillers(3)], {
        ...settings,
        CPERSONA_VECTOR_REACH: reach,
      });
      const row = (await ask(tools, "car")).find(({ content }) => content === "automobile red");
      return row?.["match_reason"].rsf as number;
    };
    expect((await scoreOf("100")) / (await scoreOf("0"))).toBeCloseTo(1 / 2, 6);
  });
});
