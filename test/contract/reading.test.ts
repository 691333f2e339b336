// What `get_contents`, `list_memories`, previews and scopes promise.

import { describe, expect } from "vitest";
import { type Answer, startInProcess, type ToolCaller } from "../support/client.js";
import { ask, listed, put, texts } from "./calls.js";
import { verifies } from "./verifies.js";

describe("previews", () => {
  verifies("preview.pure-prefix", async () => {
    const tools = await startInProcess();
    const content = `the kickoff of ${"long words about the plan ".repeat(80)}end`;
    await put(tools, content);
    const [row] = await ask(tools, "kickoff");
    expect(content.startsWith(row?.["content"])).toBe(true);
    expect(row?.["content"]).toHaveLength(500);
  });

  verifies("preview.marked-only-when-cut", async () => {
    const tools = await startInProcess();
    await put(tools, `five${"五".repeat(496)}`);
    tools.clock.advance(3_600_000);
    await put(tools, `six${"六".repeat(498)}`);
    const [five] = await ask(tools, "five");
    expect(five).not.toHaveProperty("content_truncated");
    expect(five).not.toHaveProperty("content_len");
    const [six] = await ask(tools, "six");
    expect(six).toMatchObject({ content_truncated: true, content_len: 501 });
    const rows = (await tools.call("list_memories", { agent_id: "agent-a" }))["memories"];
    expect(rows[0]).toMatchObject({ content_truncated: true, content_len: 501 });
    expect(rows[1]).not.toHaveProperty("content_truncated");
  });

  for (let head = 496; head <= 501; head++) {
    verifies("preview.code-points", `an emoji behind ${head} characters`, async () => {
      const tools = await startInProcess();
      const content = `${"あ".repeat(head)}🎌🎌👨‍👩‍👧‍👦 tail`;
      await put(tools, content);
      const [row] = await ask(tools, "tail");
      expect(row?.["content"].isWellFormed()).toBe(true);
      expect(Array.from(row?.["content"])).toHaveLength(500);
      expect(content.startsWith(row?.["content"])).toBe(true);
      expect(row?.["content_len"]).toBe(Array.from(content).length);
    });
  }

  verifies("preview.can-be-excluded", async () => {
    const tools = await startInProcess();
    await put(tools, `needle ${"🎌 flags ".repeat(200)}`);
    const [row] = await ask(tools, "needle");
    expect(row).toMatchObject({ content_truncated: true });
    expect(await texts(tools, "needle", { exclude_contents: [row?.["content"]] })).toEqual([]);
  });

  verifies("preview.setting", async () => {
    const content = `needle ${"x".repeat(1000)}`;
    const short = await startInProcess({ settings: { CPERSONA_RECALL_PREVIEW_CHARS: "10" } });
    await put(short, content);
    expect(await texts(short, "needle")).toEqual(["needle xxx"]);
    const whole = await startInProcess({ settings: { CPERSONA_RECALL_PREVIEW_CHARS: "0" } });
    await put(whole, content);
    const [row] = await ask(whole, "needle");
    expect(row?.["content"]).toBe(content);
    expect(row).not.toHaveProperty("content_truncated");
  });

  verifies("preview.library-is-whole", async () => {
    const tools = await startInProcess();
    const content = `needle ${"x".repeat(1000)}`;
    await put(tools, content);
    const { hits } = await tools.service.recall({ query: "needle", agentId: "agent-a" });
    expect(hits[0]?.row).toMatchObject({ kind: "mem", memory: { content } });
  });
});

describe("get_contents", () => {
  verifies("contents.whole-rows", async () => {
    const tools = await startInProcess();
    const content = "words ".repeat(1000).trim();
    const id = await put(tools, content, { id: "m1", timestamp: "2026-01-02" });
    const other = await put(tools, "short");
    const answer = await tools.call("get_contents", {
      agent_id: "agent-a",
      refs: [`mem:${other}`, `mem:${id}`],
    });
    const source = { type: "Agent", id: "agent-a", name: "" };
    expect(answer).toEqual({
      items: [
        { ref: `mem:${other}`, content: "short", source, timestamp: "2026-11-30T09:00:00.000Z" },
        { ref: `mem:${id}`, content, source, timestamp: "2026-01-02", id: "m1" },
      ],
      missing: [],
      count: 2,
    });
  });

  verifies("contents.missing", "in every malformed spelling", async () => {
    const tools = await startInProcess();
    const id = await put(tools, "here");
    const bad = ["", "mem:", "mem:0", "mem:-1", "mem:01", `MEM:${id}`, `mem: ${id}`, `${id}`, "ep:1"];
    bad.push("mem:9007199254740993", "mem:1e3", `mem:${id};`, "prof:1", "mem:99");
    const answer = await tools.call("get_contents", { agent_id: "agent-a", refs: [...bad, `mem:${id}`] });
    expect(answer).toMatchObject({ count: 1, missing: bad });
  });

  verifies("contents.foreign-is-missing", async () => {
    const tools = await startInProcess();
    const id = await put(tools, "secret of a");
    for (const agent of ["agent-b", "agent-", "agent-A", "agent-a ", "agent-%"]) {
      const answer = await tools.call("get_contents", { agent_id: agent, refs: [`mem:${id}`] });
      expect(answer).toEqual({ items: [], missing: [`mem:${id}`], count: 0 });
    }
  });

  verifies("contents.at-most-20", "the bound is exact, and none is refused", async () => {
    const tools = await startInProcess();
    const refs = Array.from({ length: 21 }, (_, i) => `mem:${i + 1}`);
    expect((await tools.call("get_contents", { refs: refs.slice(1) }))["missing"]).toHaveLength(20);
    for (const bad of [refs, []]) {
      const answer = await tools.call("get_contents", { refs: bad });
      expect(answer).toEqual({ ok: false, error: "refs must be a list of 1 to 20 items" });
    }
  });

  verifies("contents.budget", async () => {
    const tools = await startInProcess();
    const ids: number[] = [];
    for (let i = 0; i < 4; i++) ids.push(await put(tools, `${i}${"長".repeat(15_000)}`));
    const refs = ids.map((id) => `mem:${id}`);
    const answer = await tools.call("get_contents", { agent_id: "agent-a", refs });
    const shown = answer["items"].map((item: Answer) => item["ref"]);
    expect([...shown, ...answer["deferred"]]).toEqual(refs);
    expect(shown.length).toBeGreaterThan(0);
    expect(answer).toMatchObject({ missing: [], count: shown.length, budget_chars: 40_000 });
    const last = await tools.call("get_contents", { agent_id: "agent-a", refs: answer["deferred"] });
    expect(last).not.toHaveProperty("deferred");
    const tight = await tools.call("store", { content: "字".repeat(16_000) });
    expect((await tools.call("get_contents", { refs: [`mem:${tight["id"]}`] }))["count"]).toBe(1);
  });
});

describe("list_memories", () => {
  verifies("list.newest-first", "rows of the same second by id", async () => {
    const tools = await startInProcess();
    await put(tools, "one", { timestamp: "2030-01-01" });
    await put(tools, "two", { timestamp: "2020-01-01" });
    tools.clock.advance(60_000);
    await put(tools, "three");
    expect(await listed(tools)).toEqual(["three", "two", "one"]);
  });

  verifies("list.limit", async () => {
    const tools = await startInProcess();
    for (let i = 0; i < 5; i++) await put(tools, `row ${i}`);
    expect(await listed(tools, { limit: 2 })).toEqual(["row 4", "row 3"]);
    expect(await listed(tools, { limit: 0 })).toEqual([]);
    expect(await tools.call("list_memories", { limit: 501 })).toEqual({
      ok: false,
      error: "limit must be a whole number from 0 to 500",
    });
  });

  verifies("list.scope", async () => {
    const tools = await startInProcess();
    await fillScopes(tools);
    await tools.call("store", { agent_id: "agent-b", content: "foreign" });
    expect(await listed(tools, { project_id: "p1", channel: "c1" })).toEqual(["p1/c1", "p1/", "/c1", "/"]);
    expect(await listed(tools, { agent_id: "agent-b" })).toEqual(["foreign"]);
    const all = await tools.call("list_memories", { agent_id: "" });
    expect(all["count"]).toBe(10);
    expect(new Set(all["memories"].map((row: Answer) => row["agent_id"]))).toEqual(
      new Set(["agent-a", "agent-b"]),
    );
    expect(all["memories"][1]).toMatchObject({ project_id: "p2", channel: "c2", locked: false });
  });
});

/** One row in each combination of project and channel, named after its bucket. */
async function fillScopes(tools: ToolCaller): Promise<void> {
  for (const project of ["", "p1", "p2"])
    for (const channel of ["", "c1", "c2"])
      await put(tools, `${project}/${channel}`, { project_id: project, channel });
}

describe("scopes", () => {
  // Every way a recall can find rows must keep to the scope: each query takes another way.
  const byNothing = async (tools: ToolCaller, scope: object) => (await texts(tools, "", scope)).sort();

  verifies("scope.axes-combine", async () => {
    const tools = await startInProcess();
    await fillScopes(tools);
    for (const project of [undefined, "", "p1", "p3", "*"])
      for (const channel of [undefined, "", "c1", "c3"]) {
        const projects =
          project === undefined || project === "*" ? ["", "p1", "p2"] : project === "p1" ? ["", "p1"] : [""];
        const channels =
          channel === undefined || channel === "" ? ["", "c1", "c2"] : channel === "c1" ? ["", "c1"] : [""];
        const expected = projects.flatMap((p) => channels.map((c) => `${p}/${c}`)).sort();
        const scope = { project_id: project, channel };
        expect([scope, await byNothing(tools, scope)]).toEqual([scope, expected]);
        expect([scope, (await listed(tools, scope)).sort()]).toEqual([scope, expected]);
      }
  });

  const SECRET = "東京 umbrella MemoryIndexBuilder E4021";
  const ways: [string, string][] = [
    ["words", "umbrella"],
    ["a two-character word", "東京"],
    ["one character", "京"],
    ["an identifier", "MemoryIndexBuilder"],
    ["a substring", "IndexBuil"],
    ["everything", ""],
    ["meaning", "mostly umbrella"],
  ];
  for (const embedder of ["none", "static"]) {
    for (const [way, query] of ways) {
      verifies("scope.agent", `by ${way}, embedder ${embedder}`, async () => {
        const tools = await startInProcess({ settings: { CPERSONA_EMBEDDING_MODE: embedder } });
        await put(tools, SECRET);
        for (const agent of ["agent-b", "agent-", "agent-%", "agent-A", "agent-a ", " agent-a", "*"])
          expect(await texts(tools, query, { agent_id: agent })).toEqual([]);
        if (query !== "IndexBuil") expect(await texts(tools, query)).toEqual([SECRET]);
      });
      verifies("scope.project", `by ${way}, embedder ${embedder}`, async () => {
        const tools = await startInProcess({ settings: { CPERSONA_EMBEDDING_MODE: embedder } });
        await put(tools, SECRET, { project_id: "p1" });
        await put(tools, "own row of p2", { project_id: "p2" });
        for (const project of ["p2", "", "p", "P1", "p%"])
          expect(await texts(tools, query, { project_id: project })).not.toContain(SECRET);
      });
      verifies("scope.channel", `by ${way}, embedder ${embedder}`, async () => {
        const tools = await startInProcess({ settings: { CPERSONA_EMBEDDING_MODE: embedder } });
        await put(tools, SECRET, { channel: "c1" });
        for (const channel of ["c2", "c", "C1", "c%"])
          expect(await texts(tools, query, { channel })).not.toContain(SECRET);
      });
    }
  }

  verifies("agent.default", async () => {
    const tools = await startInProcess({ settings: { CPERSONA_AGENT_ID: "kei" } });
    const { id } = await tools.call("store", { content: "umbrella" });
    expect((await tools.call("recall", { query: "umbrella" }))["messages"]).toHaveLength(1);
    expect((await tools.call("list_memories", {}))["memories"][0].agent_id).toBe("kei");
    expect((await tools.call("get_contents", { refs: [`mem:${id}`] }))["count"]).toBe(1);
    expect((await tools.call("delete_memory", { memory_id: id }))["ok"]).toBe(true);
    const plain = await startInProcess();
    await plain.call("store", { content: "umbrella" });
    expect((await plain.call("list_memories", {}))["memories"][0].agent_id).toBe("default");
  });

  verifies("agent.empty-says-who-has-rows", async () => {
    const tools = await startInProcess();
    expect(await tools.call("recall", { query: "x" })).not.toHaveProperty("note");
    await put(tools, "umbrella");
    const other = await tools.call("recall", { agent_id: "agent-b", query: "umbrella" });
    expect(other).toMatchObject({
      messages: [],
      note: "this agent_id holds no memories; these do: agent-a",
    });
    const own = await tools.call("recall", { agent_id: "agent-a", query: "zebra" });
    expect(own["messages"]).toEqual([]);
    expect(own).not.toHaveProperty("note");
  });

  verifies("project.setting", async () => {
    const tools = await startInProcess({ settings: { CPERSONA_PROJECT_ID: "p1" } });
    await put(tools, "own umbrella");
    await put(tools, "global umbrella", { project_id: "" });
    await put(tools, "foreign umbrella", { project_id: "p2" });
    expect((await texts(tools, "umbrella")).sort()).toEqual(["global umbrella", "own umbrella"]);
    expect((await listed(tools)).sort()).toEqual(["global umbrella", "own umbrella"]);
    expect(await texts(tools, "umbrella", { project_id: "" })).toEqual(["global umbrella"]);
    expect(await texts(tools, "umbrella", { project_id: "*" })).toHaveLength(3);
  });

  verifies("project.star", async () => {
    const tools = await startInProcess();
    const answer = await tools.call("store", { content: "x", project_id: "*" });
    expect(answer).toMatchObject({ ok: false, result: "rejected" });
    expect(answer["reason"]).toMatch(/^project_id must name one project/);
  });
});
