// The MCP server: lists the tools, checks arguments, calls handlers, and puts every answer on the wire twice,
// as text and as structured content, equal.

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { describeError, MemoryError } from "../errors.js";
import { log } from "../log.js";
import { pausedAnswer } from "../response/answers.js";
import type { WireObject } from "../response/rows.js";
import type { MemoryService } from "../service/memory-service.js";
import { type JsonSchema, parseArguments } from "./arguments.js";
import type { Tool } from "./define-tool.js";
import { INSTRUCTIONS } from "./instructions.js";
import { TOOLS } from "./tools/index.js";

export interface McpServerOptions {
  readonly version: string;
  /** resolves when the memory is open; rejects when it cannot be opened */
  readonly service: () => Promise<MemoryService>;
}

export interface McpServer {
  readonly server: Server;
  /** resolves when no call is running */
  idle(): Promise<void>;
}

export function createMcpServer({ version, service }: McpServerOptions): McpServer {
  const server = new Server(
    { name: "cpersona-native", version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const running = new Set<Promise<unknown>>();
  const schemas = new Map(TOOLS.map((tool) => [tool.name, inputSchema(tool)]));

  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: TOOLS.map((tool) => listed(tool, schemas.get(tool.name) ?? {})),
  }));

  server.setRequestHandler(CallToolRequestSchema, (request) => {
    const { name, arguments: raw } = request.params;
    const tool = TOOLS.find((candidate) => candidate.name === name);
    if (tool === undefined) return result({ error: `Unknown tool: ${name.slice(0, 100)}` });
    const call = callTool(tool, schemas.get(name) ?? {}, raw, service).then(result);
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

async function callTool(
  tool: Tool,
  schema: JsonSchema,
  raw: unknown,
  service: () => Promise<MemoryService>,
): Promise<WireObject> {
  try {
    const input = parseArguments(tool.input, schema, raw);
    const memory = await service();
    const pause = tool.paused === undefined ? null : memory.pauses.state(String(input["session_key"] ?? ""));
    if (pause?.paused === true) return pausedAnswer(tool.paused?.(input) ?? {}, pause);
    return await tool.handle(input, memory);
  } catch (error) {
    if (!(error instanceof MemoryError)) log("error", `${tool.name}: ${describeError(error)}`);
    return tool.fail(error);
  }
}

function result(answer: WireObject): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(answer) }],
    structuredContent: answer,
    ...(answer["ok"] === false || "error" in answer ? { isError: true } : {}),
  };
}

/** Compact: no `$schema`, no bounds that only repeat the type. */
function toJsonSchema(
  schema: z.ZodObject,
  io: "input" | "output",
): Record<string, unknown> & { type: "object" } {
  const json = z.toJSONSchema(schema, { io, target: "draft-7" }) as Record<string, unknown>;
  return compact(json) as Record<string, unknown> & { type: "object" };
}

function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compact);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key, item]) => {
    if (key === "$schema") return false;
    if (key === "additionalProperties") return false;
    if (key === "properties" && Object.keys(item as object).length === 0) return false;
    if ((key === "maximum" || key === "minimum") && Math.abs(Number(item)) === Number.MAX_SAFE_INTEGER)
      return false;
    return true;
  });
  return Object.fromEntries(entries.map(([key, item]) => [key, compact(item)]));
}

function inputSchema(tool: Tool): JsonSchema {
  return toJsonSchema(tool.input, "input") as JsonSchema;
}

function listed(tool: Tool, schema: JsonSchema) {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: schema as { type: "object" },
    outputSchema: toJsonSchema(tool.output, "output"),
    annotations: { ...tool.hints },
  };
}
