// One call of a tool, from any door: arguments checked, paused sessions kept from writing, failures shaped.

import { z } from "zod";
import { describeError, isStorageFault, MemoryError, type MemoryErrorCode } from "../errors.js";
import { log } from "../log.js";
import { pausedAnswer } from "../response/answers.js";
import { refusedAnswer } from "../response/maintenance-answers.js";
import type { WireObject } from "../response/rows.js";
import type { MemoryService } from "../service/memory-service.js";
import { tellingOfWaits } from "../waiting.js";
import { type JsonSchema, parseArguments } from "./arguments.js";
import type { Tool, ToolContext } from "./define-tool.js";

export interface ToolOutcome {
  readonly answer: WireObject | string;
  /** why it failed; null when it did not */
  readonly failure: MemoryErrorCode | null;
}

/** Never rejects: a failure is an answer. */
export async function callTool(
  tool: Tool,
  raw: unknown,
  service: () => Promise<MemoryService>,
  context: ToolContext = {},
): Promise<ToolOutcome> {
  try {
    const input = parseArguments(tool.input, inputSchema(tool), raw);
    const memory = await service();
    // The one place where a call is refused to its caller, whatever its door.
    const refusal = context.caller === undefined ? null : memory.refusal(context.caller, tool.name, input);
    if (refusal !== null) return { answer: refusedAnswer(refusal), failure: "permission_denied" };
    const pause = tool.paused === undefined ? null : memory.pauses.state(String(input["session_key"] ?? ""));
    if (pause?.paused === true)
      return { answer: pausedAnswer(tool.paused?.(input) ?? {}, pause), failure: null };
    const answer = await tellingOfWaits(context.waiting, () => tool.handle(input, memory, context));
    return { answer, failure: null };
  } catch (error) {
    if (!(error instanceof MemoryError)) log("error", `${tool.name}: ${describeError(error)}`);
    else if (isStorageFault(error))
      log("debug", `${tool.name}: ${error.code}: ${describeError(error.cause)}`);
    return { answer: tool.fail(error), failure: error instanceof MemoryError ? error.code : "internal" };
  }
}

const inputs = new WeakMap<Tool, JsonSchema>();

/** The JSON Schema of a tool's arguments, made once. */
export function inputSchema(tool: Tool): JsonSchema {
  let schema = inputs.get(tool);
  if (schema === undefined) {
    schema = toJsonSchema(tool.input, "input") as JsonSchema;
    inputs.set(tool, schema);
  }
  return schema;
}

/** Compact: no `$schema`, no bounds that only repeat the type. */
export function toJsonSchema(
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
