// The MCP SDK's own client, on a real server process over stdio or on a server inside this process.

import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { expect, onTestFinished } from "vitest";
import { createMcpServer } from "../../ts/mcp/server.js";
import { TOOLS } from "../../ts/mcp/tools/index.js";
import { openTestMemory, type TestMemory, type TestMemoryOptions } from "./memory.js";
import { ROOT } from "./root.js";
import { type Settings, testSettings } from "./settings.js";
import { tempFolder } from "./temp.js";

/** A JSON object of an answer; tests look into it with matchers. */
// biome-ignore lint/suspicious/noExplicitAny: answers are foreign JSON to a test
export type Answer = Record<string, any>;

export interface ToolCaller {
  readonly client: Client;
  /** The answer as the content's text has it, after a check that structuredContent is the same. */
  call(tool: string, args: object): Promise<Answer>;
}

export interface TestServer extends ToolCaller {
  readonly databasePath: string;
  readonly pid: number;
  stderr(): string;
  /** Ends the client's side and waits for the process. */
  close(): Promise<void>;
}

export interface StartOptions {
  readonly env?: Settings;
  readonly args?: readonly string[];
  readonly databasePath?: string;
}

export const MAIN = join(ROOT, "dist", "bin", "main.js");

/** The environment of a server process: nothing of the developer's but the path to programs. */
export function serverEnvironment(databasePath: string, more: Settings = {}): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: tempFolder(), ...testSettings(databasePath, more) };
}

/** Starts the built server as its own process and shakes hands. Closed when the test is over. */
export async function startServer(options: StartOptions = {}): Promise<TestServer> {
  const databasePath = options.databasePath ?? join(tempFolder(), "memory.db");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, ...(options.args ?? [])],
    env: serverEnvironment(databasePath, options.env),
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  const caller = await connect(transport);
  const pid = transport.pid as number;
  const close = (): Promise<void> => caller.client.close();
  onTestFinished(() => close().catch(() => {}));
  return { ...caller, databasePath, pid, stderr: () => stderr, close };
}

/** The same tools inside this process, on a memory with a fake clock. */
export async function startInProcess(options: TestMemoryOptions = {}): Promise<ToolCaller & TestMemory> {
  const memory = await openTestMemory(options);
  const { server } = createMcpServer({
    version: "0.0.0",
    service: async () => memory.service,
    tools: async () => TOOLS,
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  const caller = await connect(ours);
  onTestFinished(() => caller.client.close());
  return { ...caller, ...memory };
}

async function connect(transport: Transport): Promise<ToolCaller> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  // The client checks answers against the output schemas only when it knows them.
  await client.listTools();
  return { client, call: (tool, args) => call(client, tool, args) };
}

async function call(client: Client, tool: string, args: object): Promise<Answer> {
  const result = await client.callTool({ name: tool, arguments: args as Record<string, unknown> });
  const content = result.content as { type: string; text: string }[];
  expect(content).toHaveLength(1);
  const answer = JSON.parse(content[0]?.text ?? "") as Answer;
  expect(result.structuredContent).toEqual(answer);
  expect(result.isError ?? false).toBe(answer["ok"] === false || "error" in answer);
  return answer;
}
