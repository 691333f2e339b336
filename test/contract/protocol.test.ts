// What holds for every tool: arguments, refusals, shapes of answers, what tools/list says.

import { describe, expect } from "vitest";
import { startInProcess } from "../support/client.js";
import { ask, put } from "./calls.js";
import { verifies } from "./verifies.js";

describe("arguments", () => {
  verifies("arguments.coerced", async () => {
    const tools = await startInProcess();
    const stored = await tools.call("store", {
      agent_id: 7,
      content: 12345,
      id: 42,
      timestamp: 20260102,
      source: '{"type":"user","id":"u1","name":""}',
      metadata: ' {"k": 1}',
    });
    expect(stored).toMatchObject({ ok: true, result: "stored" });
    const recall = (more: object) => tools.call("recall", { agent_id: "7", query: 12345, ...more });
    expect((await recall({}))["messages"][0]).toMatchObject({
      content: "12345",
      id: "42",
      timestamp: "20260102",
      source: { type: "User", id: "u1", name: "" },
    });
    expect((await recall({ limit: "0" }))["messages"]).toEqual([]);
    expect((await recall({ limit: " 5 ", deep: "false" }))["messages"]).toHaveLength(1);
    expect((await recall({ limit: 5.0, deep: "TRUE" }))["messages"]).toHaveLength(1);
    expect((await recall({ limit: "5.0" }))["messages"]).toHaveLength(1);
    expect((await recall({ exclude_contents: '["12345"]' }))["messages"]).toEqual([]);
    expect((await recall({ exclude_contents: [12345] }))["messages"]).toEqual([]);
    const contents = await tools.call("get_contents", { agent_id: 7, refs: `["mem:${stored["id"]}"]` });
    expect(contents["count"]).toBe(1);
    const message = await tools.call("store", { message: '{"content": "as text", "id": 9}' });
    expect(message).toMatchObject({ result: "stored" });
    expect(await tools.call("delete_memory", { agent_id: 7, memory_id: `${stored["id"]}` })).toMatchObject({
      ok: true,
    });
  });

  verifies("arguments.null-is-absent", async () => {
    const tools = await startInProcess();
    const nothing = { agent_id: null, project_id: null, channel: null };
    const stored = await tools.call("store", {
      ...nothing,
      content: "umbrella",
      id: null,
      source: null,
      timestamp: null,
      metadata: null,
      message: null,
    });
    expect(stored).toMatchObject({ result: "stored" });
    const found = await tools.call("recall", {
      ...nothing,
      query: "umbrella",
      limit: null,
      source_id: null,
      exclude_contents: null,
      deep: null,
    });
    expect(found["messages"]).toHaveLength(1);
    expect((await tools.call("list_memories", { ...nothing, limit: null }))["count"]).toBe(1);
    const missing = await tools.call("recall", { query: null });
    expect(missing).toEqual({
      ok: false,
      error: "query is required and must be a text of at most 100000 characters",
    });
  });

  const refusals: [string, object, string][] = [
    ["recall", {}, "query is required and must be a text of at most 100000 characters"],
    ["recall", { query: [] }, "query must be a text of at most 100000 characters"],
    ["recall", { query: "a", limit: "ten" }, "limit must be a whole number from 0 to 100"],
    ["recall", { query: "a", limit: {} }, "limit must be a whole number from 0 to 100"],
    ["recall", { query: "a", limit: "1e1" }, "limit must be a whole number from 0 to 100"],
    ["recall", { query: "a", deep: "maybe" }, "deep must be true or false"],
    ["recall", { query: "a", deep: 1 }, "deep must be true or false"],
    ["recall", { query: "a", agent_id: {} }, "agent_id must be a text"],
    ["recall", { query: "a", agent_id: "" }, "agent_id must not be empty"],
    ["recall", { query: "a", channel: true }, "channel must be a text"],
    ["recall", { query: "a", exclude_contents: "a" }, "exclude_contents must be a list of at most 500 texts"],
    ["recall", { query: "a", exclude_contents: [{}] }, "exclude_contents[0] must be a text"],
    [
      "recall",
      { query: "a", exclude_contents: new Array(501).fill("a") },
      "exclude_contents must be a list of at most 500 texts",
    ],
    ["get_contents", {}, "refs is required and must be a list of 1 to 20 items"],
    ["get_contents", { refs: "mem:1" }, "refs must be a list of 1 to 20 items"],
    ["get_contents", { refs: ["mem:1"], agent_id: "" }, "agent_id must not be empty"],
    ["list_memories", { limit: "x" }, "limit must be a whole number from 0 to 500"],
    ["delete_memory", {}, "memory_id is required and must be a whole number of at least 1"],
    ["delete_memory", { memory_id: 0 }, "memory_id must be a whole number of at least 1"],
    ["delete_memory", { memory_id: "mem:1" }, "memory_id must be a whole number of at least 1"],
    ["store", {}, "content is required"],
    ["store", { content: "" }, "content must not be empty"],
    ["store", { content: [] }, "content must be a text"],
    ["store", { content: "a", agent_id: "" }, "agent_id must not be empty"],
    ["store", { content: "a", source: 5 }, "source must be an object"],
    ["store", { content: "a", metadata: "{broken" }, "metadata must be an object"],
    ["store", { content: "a", metadata: [] }, "metadata must be an object"],
    ["store", { message: { content: {} } }, "message.content must be a text"],
    ["store", { message: {} }, "content is required"],
    ["store", { message: "text" }, "message must be an object"],
  ];
  for (const [tool, args, text] of refusals)
    verifies("arguments.named-in-refusals", `${tool}: ${text}`, async () => {
      const tools = await startInProcess();
      const failure = tool === "store" ? { result: "rejected", reason: text } : { error: text };
      expect(await tools.call(tool, args)).toEqual({ ok: false, ...failure });
    });

  // An answer that echoes half an emoji would break the session of the agent that reads it.
  for (const [tool, field] of [
    ["recall", "query"],
    ["recall", "agent_id"],
    ["recall", "project_id"],
    ["recall", "channel"],
    ["recall", "source_id"],
    ["list_memories", "agent_id"],
    ["get_contents", "agent_id"],
    ["delete_memory", "agent_id"],
  ] as const)
    verifies("text.well-formed", `${tool} refuses a lone surrogate in ${field}`, async () => {
      const tools = await startInProcess();
      const answer = await tools.call(tool, {
        query: "a",
        refs: ["mem:1"],
        memory_id: 1,
        [field]: "a\ud83d",
      });
      expect(answer).toEqual({ ok: false, error: `${field} must not contain a lone surrogate` });
    });
  verifies("text.well-formed", "get_contents does not echo a lone surrogate of a ref", async () => {
    const tools = await startInProcess();
    const answer = await tools.call("get_contents", { refs: ["mem:1\ud83d"] });
    expect(JSON.stringify(answer)).not.toMatch(/\\ud83d/);
  });
});

describe("answers", () => {
  verifies("shape.unknown-tool", "whatever its arguments", async () => {
    const tools = await startInProcess();
    for (const name of ["no_such_tool", "", "__proto__", "Recall"])
      expect(await tools.call(name, { content: "x" })).toEqual({ error: `Unknown tool: ${name}` });
  });

  verifies("shape.failures-carry-ok-false", async () => {
    const tools = await startInProcess();
    for (const [tool, args] of [
      ["recall", { limit: -1 }],
      ["get_contents", { refs: [] }],
      ["list_memories", { limit: -1 }],
      ["delete_memory", { memory_id: 5 }],
    ] as const)
      expect(await tools.call(tool, args)).toEqual({ ok: false, error: expect.stringMatching(/./) });
    expect(await tools.call("store", {})).toEqual({
      ok: false,
      result: "rejected",
      reason: expect.stringMatching(/./),
    });
  });

  verifies("shape.reads-carry-no-ok", async () => {
    const tools = await startInProcess();
    const id = await put(tools, "umbrella");
    for (const [tool, args] of [
      ["recall", { query: "umbrella" }],
      ["recall", { query: "" }],
      ["get_contents", { refs: [`mem:${id}`, "bad"] }],
      ["list_memories", {}],
    ] as const)
      expect(await tools.call(tool, { agent_id: "agent-a", ...args })).not.toHaveProperty("ok");
  });

  // The client behind these calls compares both forms of every answer and checks it against the schema.
  verifies("shape.structured-equals-content", async () => {
    const tools = await startInProcess();
    await put(tools, "umbrella 🎌 \u2028 東京");
    expect(await ask(tools, "umbrella")).toHaveLength(1);
    expect(await tools.call("recall", { limit: -1 })).toMatchObject({ ok: false });
    expect(await tools.call("no_such_tool", {})).toHaveProperty("error");
  });

  verifies("shape.schemas", async () => {
    const tools = await startInProcess();
    const { tools: list } = await tools.client.listTools();
    for (const tool of list) {
      // Its answer is text for a prompt, not an object.
      if (tool.name === "ambient_recall") continue;
      expect(tool.outputSchema).toMatchObject({ type: "object" });
      for (const key of ["anyOf", "oneOf", "allOf", "$ref"])
        expect(tool.outputSchema).not.toHaveProperty(key);
    }
    await put(tools, "a", { timestamp: "2099-01-01" });
    await tools.call("store", { agent_id: "agent-a", content: "a" });
    await tools.call("store", { content: "" });
    await tools.call("recall", { query: "none", agent_id: "agent-z" });
  });

  verifies("shape.hints", async () => {
    const tools = await startInProcess();
    const { tools: list } = await tools.client.listTools();
    for (const { annotations } of list)
      expect(annotations).toMatchObject({ readOnlyHint: expect.any(Boolean), openWorldHint: false });
    const hints = Object.fromEntries(list.map((tool) => [tool.name, tool.annotations]));
    expect(hints).toMatchObject({
      store: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
      recall: { readOnlyHint: true },
      get_contents: { readOnlyHint: true },
      list_memories: { readOnlyHint: true },
      delete_memory: { readOnlyHint: false, destructiveHint: true },
    });
  });

  verifies("shape.input-schemas", async () => {
    const tools = await startInProcess();
    const { tools: list } = await tools.client.listTools();
    for (const { name, inputSchema, description } of list) {
      expect(name).toMatch(/^[a-z_]{1,40}$/);
      expect(description).toMatch(/^[A-Z].*\.$/);
      expect(inputSchema.type).toBe("object");
      expect(JSON.stringify(inputSchema)).not.toMatch(/"(anyOf|oneOf|allOf|\$ref)"/);
    }
  });

  verifies("bounds.tools-list", async () => {
    const tools = await startInProcess();
    const { tools: list } = await tools.client.listTools();
    const chars = (tools: object): number => Array.from(JSON.stringify(tools)).length;
    const core = ["store", "recall", "get_contents", "list_memories", "delete_memory"];
    expect(chars(list.filter((tool) => core.includes(tool.name)))).toBeLessThanOrEqual(10_000);
    expect(chars(list)).toBeLessThanOrEqual(28_000);
  });
});
