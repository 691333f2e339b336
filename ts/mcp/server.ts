// The MCP server: lists the tools, calls them, and puts every answer on the wire twice, as text and as
// structured content, equal.

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { WireObject } from "../response/rows.js";
import type { Caller } from "../service/access.js";
import type { MemoryService } from "../service/memory-service.js";
import type { JsonSchema } from "./arguments.js";
import { callTool, inputSchema, toJsonSchema } from "./call-tool.js";
import type { Tool } from "./define-tool.js";
import { instructionsWith } from "./instructions.js";
import { progressSender } from "./progress.js";

export interface McpServerOptions {
  readonly version: string;
  /** resolves when the memory is open; rejects when it cannot be opened */
  readonly service: () => Promise<MemoryService>;
  /** loads the tools when they are first asked for: `initialize` does not wait for them */
  readonly tools: () => Promise<readonly Tool[]>;
  /** who is calling; absent where no access list is set */
  readonly caller?: Caller | undefined;
  /** the operator's words to every agent, put behind our own */
  readonly summary?: string | undefined;
}

export interface McpServer {
  readonly server: Server;
  /** resolves when no call is running */
  idle(): Promise<void>;
}

export function createMcpServer(options: McpServerOptions): McpServer {
  const { version, service, caller, tools } = options;
  const server = new Server(
    { name: "cpersona-native", version },
    { capabilities: { tools: {} }, instructions: instructionsWith(options.summary ?? "") },
  );
  const running = new Set<Promise<unknown>>();

  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: (await tools()).map(listed) }));

  server.setRequestHandler(CallToolRequestSchema, (request, extra) => {
    const { name, arguments: raw } = request.params;
    const answered = async (): Promise<CallToolResult> => {
      const tool = (await tools()).find((candidate) => candidate.name === name);
      if (tool === undefined) return result({ error: `Unknown tool: ${name.slice(0, 100)}` });
      const progress = progressSender(request, extra);
      const { answer } = await callTool(tool, raw, service, {
        caller,
        progress: progress.report,
        waiting: progress.waiting,
      });
      await progress.settled();
      return result(answer, tool);
    };
    const call = answered();
    running.add(call);
    return call.finally(() => running.delete(call));
  });

  return {
    server,
    idle: async () => {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

/** Tools without an output schema answer with content alone. */
function result(answer: WireObject | string, tool?: Tool): CallToolResult {
  if (typeof answer === "string") return { content: [{ type: "text", text: answer }] };
  return {
    content: [{ type: "text", text: JSON.stringify(answer) }],
    ...(tool !== undefined && tool.output === undefined ? {} : { structuredContent: answer }),
    ...(answer["ok"] === false || "error" in answer ? { isError: true } : {}),
  };
}

function listed(tool: Tool) {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: shallow(inputSchema(tool)),
    ...(tool.output === undefined ? {} : { outputSchema: toJsonSchema(tool.output, "output") }),
    annotations: { ...tool.hints },
    ...(tool.maxResultChars === undefined
      ? {}
      : { _meta: { "anthropic/maxResultSizeChars": tool.maxResultChars } }),
  };
}

/** An object inside the arguments is listed by its description alone: every session pays for this list. */
function shallow(schema: JsonSchema): { type: "object" } {
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    if (property.type !== "object" || property.properties === undefined) return [name, property];
    const { properties: _, ...rest } = property;
    return [name, rest];
  });
  return {
    ...schema,
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
  } as {
    type: "object";
  };
}
