// A secret of one agent, hunted from another over every tool, list, mode and fallback.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TOOLS } from "../../ts/mcp/tools/index.js";
import { startServer, type ToolCaller } from "../support/client.js";
import { tempFolder } from "../support/temp.js";

/** Words, an identifier, two-character Japanese, and a tag that no other row has. */
const SECRET = "zanzibar XK-4711 極秘 zanzibar@example.org";
const HUNT = ["zanzibar", "XK-4711", "極秘", "zanzi", "example.org", SECRET, "", "what is secret here?"];
const TRACES = /zanzibar|4711|極秘/i;

async function hide(tools: ToolCaller): Promise<void> {
  const secret = { agent_id: "agent-a", project_id: "p", channel: "c" };
  for (const kind of ["note", "value", "intention"])
    await tools.call("store", {
      ...secret,
      content: `${SECRET} ${kind}`,
      id: `secret-${kind}`,
      kind,
      tags: ["zanzibar"],
    });
  await tools.call("store", {
    agent_id: "agent-a",
    content: `${SECRET} everywhere`,
    source: { type: "User", id: "u-zanzibar", name: "Zanzibar" },
  });
  await tools.call("archive_episode", { ...secret, summary: `${SECRET} session`, keywords: "zanzibar" });
  await tools.call("update_profile", { agent_id: "agent-a", profile: `${SECRET} profile` });
  await tools.call("store", { agent_id: "agent-b", content: "an innocent row about umbrellas" });
  await tools.call("relate", { agent_id: "agent-a", from_ref: "mem:1", to_ref: "mem:2", type: "supports" });
}

/** Arguments that try to reach the secret, by tool. Calls that name the secret's words get them echoed nowhere. */
function hunts(agent: object, folder: string): [string, object][] {
  const refs = ["mem:1", "mem:2", "mem:3", "mem:4", "ep:1"];
  const scopes = [{}, { project_id: "p" }, { project_id: "*" }, { project_id: "" }, { channel: "c" }];
  return [
    ...HUNT.flatMap((query) =>
      scopes.flatMap((scope): [string, object][] => [
        ["recall", { ...agent, ...scope, query, limit: 100, deep: true, trace: true }],
        ["recall_with_context", { ...agent, ...scope, query, limit: 100 }],
        [
          "ambient_recall",
          { ...agent, ...scope, query, min_chars: 0, format: "json", expose_breakdown: true },
        ],
      ]),
    ),
    ["recall", { ...agent, query: "", source_id: "u-zanzibar" }],
    ["get_contents", { ...agent, refs }],
    ["list_memories", { ...agent, limit: 500 }],
    ["list_episodes", { ...agent, limit: 200 }],
    ["get_profile", agent],
    ["update_memory", { ...agent, memory_id: 1, content: "taken over" }],
    ["lock_memory", { ...agent, memory_id: 1 }],
    ["unlock_memory", { ...agent, memory_id: 1 }],
    ["delete_memory", { ...agent, memory_id: 1 }],
    ["delete_episode", { ...agent, episode_id: 1 }],
    ["relate", { ...agent, from_ref: "mem:1", to_ref: "mem:2", type: "contradicts" }],
    ["relate", { ...agent, from_ref: "mem:1", to_ref: "mem:2", type: "supports", remove: true }],
    ["store", { ...agent, content: "a row of mine", relations: [{ type: "derived_from", ref: "mem:1" }] }],
    ["calibrate_threshold", agent],
    ["get_recall_precision", agent],
    ["set_recall_precision", { ...agent, precision: "strict" }],
    [
      "check_health",
      { ...agent, fix: true, checks: ["invalid_timestamp", "empty_content", "duplicate_content"] },
    ],
    ["check_health", agent],
    ["deep_check", { ...agent, fix: true }],
    ["archive_episode", { ...agent, summary: "my session" }],
    ["update_profile", { ...agent, profile: "mine" }],
    ["get_queue_status", {}],
    ["get_operating_context", {}],
    ["persistence_status", {}],
    ["pause_persistence", { session_key: "other" }],
    ["resume_persistence", { session_key: "other" }],
    ["export_memories", { ...agent, output_path: join(folder, "mine.jsonl"), include_embeddings: true }],
    [
      "import_memories",
      { input_path: join(folder, "mine.jsonl"), target_agent_id: "agent-b", dry_run: true },
    ],
    ["merge_memories", { source_agent_id: "agent-b", target_agent_id: "agent-d", dry_run: true }],
    ["delete_agent_data", agent],
  ];
}

/** What the owner sees, to be compared before and after. */
async function inventory(tools: ToolCaller): Promise<unknown> {
  const agent = { agent_id: "agent-a" };
  const list = await tools.call("list_memories", agent);
  const episodes = await tools.call("list_episodes", agent);
  return [list, episodes, await tools.call("get_profile", agent)];
}

const MODES = [
  { CPERSONA_RECALL_MODE: "rrf", CPERSONA_EMBEDDING_MODE: "static" },
  { CPERSONA_RECALL_MODE: "rsf", CPERSONA_EMBEDDING_MODE: "none" },
  { CPERSONA_RECALL_MODE: "cascade", CPERSONA_EMBEDDING_MODE: "static", CPERSONA_CONFIDENCE_ENABLED: "true" },
  {
    CPERSONA_RECALL_MODE: "rrf",
    CPERSONA_EMBEDDING_MODE: "static",
    CPERSONA_MAX_MEMORIES: "1",
    CPERSONA_VECTOR_REACH: "100",
    CPERSONA_AMBIENT_LANG: "en",
  },
];

/** Names that a sloppy comparison would take for agent-a. */
const DISGUISES = [
  "agent-b",
  "agent-c",
  "Agent-A",
  "agent-a ",
  " agent-a",
  "agent-%",
  "agent_a",
  "agent-a\u200b",
];

describe("another agent", () => {
  it.each(MODES)("finds nothing of the secret with %j", async (env) => {
    const folder = tempFolder();
    const tools = await startServer({ env });
    await hide(tools);
    const before = await inventory(tools);
    const hunted = new Set<string>();
    for (const agent_id of DISGUISES) {
      const calls =
        agent_id === "agent-b" ? hunts({ agent_id }, folder) : hunts({ agent_id }, folder).slice(0, 40);
      for (const [tool, args] of calls) {
        const answer = await raw(tools, tool, args);
        expect(answer, `${tool} ${JSON.stringify(args)}`).not.toMatch(TRACES);
        hunted.add(tool);
      }
    }
    expect(readFileSync(join(folder, "mine.jsonl"), "utf8")).not.toMatch(TRACES);
    expect(await inventory(tools)).toEqual(before);
    expect([...hunted].sort()).toEqual(TOOLS.map(({ name }) => name).sort());
  });

  it("finds nothing over the tools that reach every agent when an access list says so", async () => {
    const acl = join(tempFolder(), "acl.json");
    writeFileSync(
      acl,
      JSON.stringify({ clients: [{ client_id: "local", grants: { "agent-b": "read-write" } }] }),
    );
    const open = await startServer();
    await hide(open);
    await open.close();
    const tools = await startServer({ databasePath: open.databasePath, env: { CPERSONA_ACL_FILE: acl } });
    const folder = tempFolder();
    for (const [tool, args] of [
      ["list_memories", { agent_id: "" }],
      ["list_episodes", { agent_id: "" }],
      ["check_health", { agent_id: "" }],
      ["check_health", { agent_id: "agent-b", fix: true }],
      ["recall", { agent_id: "agent-a", query: "zanzibar" }],
      ["get_profile", {}],
      ["export_memories", { agent_id: "", output_path: join(folder, "x") }],
      ["export_memories", { agent_id: "agent-b", output_path: join(folder, "x") }],
      ["import_memories", { input_path: acl, target_agent_id: "agent-b" }],
      ["merge_memories", { source_agent_id: "agent-a", target_agent_id: "agent-b" }],
      ["delete_agent_data", { agent_id: "agent-a" }],
      ["store", { agent_id: "agent-a", content: "x" }],
      ["pause_persistence", {}],
    ] as const) {
      const answer = await tools.call(tool, args);
      expect(answer, tool).toMatchObject({ ok: false, error: "permission_denied", tool, client_id: "local" });
      expect(answer).not.toHaveProperty("result");
    }
    // An agent without rows learns nothing about agents that it may not read.
    const empty = await tools.call("recall", { agent_id: "agent-b", query: "umbrellas" });
    expect(empty["messages"]).toHaveLength(1);
    await tools.call("delete_agent_data", { agent_id: "agent-b" });
    expect(await tools.call("recall", { agent_id: "agent-b", query: "umbrellas" })).not.toHaveProperty(
      "note",
    );
  });
});

async function raw(tools: ToolCaller, name: string, args: object): Promise<string> {
  const result = await tools.client.callTool({ name, arguments: args as Record<string, unknown> });
  return JSON.stringify(result.content);
}
