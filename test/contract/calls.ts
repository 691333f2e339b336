// What the contract tests say often, in a word.

import { expect } from "vitest";
import type { Answer, ToolCaller } from "../support/client.js";

/** Stores a text for agent-a and gives its row id. */
export async function put(tools: ToolCaller, content: string, more: object = {}): Promise<number> {
  const answer = await tools.call("store", { agent_id: "agent-a", content, ...more });
  expect(answer).toMatchObject({ ok: true, result: "stored" });
  return answer["id"] as number;
}

/** Rows of a recall for agent-a. */
export async function ask(tools: ToolCaller, query: string, more: object = {}): Promise<Answer[]> {
  const answer = await tools.call("recall", { agent_id: "agent-a", query, limit: 20, ...more });
  return answer["messages"] as Answer[];
}

/** Texts of a recall for agent-a, best last. */
export async function texts(tools: ToolCaller, query: string, more: object = {}): Promise<string[]> {
  return (await ask(tools, query, more)).map((row) => String(row["content"]));
}

/** Texts that list_memories shows for agent-a, newest first. */
export async function listed(tools: ToolCaller, more: object = {}): Promise<string[]> {
  const answer = await tools.call("list_memories", { agent_id: "agent-a", ...more });
  return (answer["memories"] as Answer[]).map((row) => String(row["content"]));
}
