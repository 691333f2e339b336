// What every session pays for before it has done anything.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { createMcpServer } from "../../../ts/mcp/server.js";
import { toolsOf } from "../../../ts/mcp/tools/index.js";

async function connect(set: "core" | "all", summary = ""): Promise<Client> {
  const { server } = createMcpServer({
    version: "0.0.0",
    service: () => Promise.reject(new Error("not needed")),
    tools: async () => toolsOf(set),
    summary,
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(ours);
  onTestFinished(() => client.close());
  return client;
}

describe("tools/list", () => {
  it.each([
    ["all", 28_000],
    ["core", 10_000],
  ] as const)("of %s tools stays within %i characters", async (set, most) => {
    const { tools } = await (await connect(set)).listTools();
    const chars = Array.from(JSON.stringify(tools)).length;
    process.stderr.write(`tools/list ${set}: ${tools.length} tools, ${chars} of ${most} characters\n`);
    expect(chars).toBeLessThanOrEqual(most);
  });

  it("shows the core set when asked to, and knows no other tool then", async () => {
    const client = await connect("core");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      "ambient_recall",
      "archive_episode",
      "get_contents",
      "recall",
      "recall_with_context",
      "relate",
      "store",
      "update_memory",
      "update_profile",
    ]);
    const answer = await client.callTool({ name: "delete_agent_data", arguments: { agent_id: "a" } });
    expect(answer.structuredContent).toEqual({ error: "Unknown tool: delete_agent_data" });
  });
});

describe("instructions", () => {
  it("stay under 2,000 characters, whatever the operator adds", async () => {
    const own = (await connect("all")).getInstructions() ?? "";
    const more = (await connect("all", "Use the registry. ".repeat(500))).getInstructions() ?? "";
    expect(own.length).toBeLessThan(2000);
    expect(more.length).toBeLessThan(2000);
    expect(more.startsWith(own)).toBe(true);
    expect(more).toContain("Use the registry.");
  });
});
