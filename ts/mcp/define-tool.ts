// One tool = name, words for the agent, schemas, hints, handler. Handlers call one service method and shape
// its result; they never build protocol objects.

import type { z } from "zod";
import { failureAnswer } from "../response/answers.js";
import type { WireObject } from "../response/rows.js";
import type { MemoryService } from "../service/memory-service.js";

export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: false;
}

export interface ToolDefinition<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** one sentence, when to use it, the one trap */
  readonly description: string;
  readonly input: Input;
  /** top-level keys of the answer, all optional: failures have the same schema */
  readonly output: z.ZodObject;
  readonly hints: ToolHints;
  handle(input: z.output<Input>, service: MemoryService): Promise<WireObject> | WireObject;
  /** for writes: the success shape of a call that keeps nothing because its session is paused */
  paused?(input: z.output<Input>): WireObject;
  /** the answer to a refused or failed call */
  fail(error: unknown): WireObject;
}

/** A tool as the server keeps it, whatever its input is. */
export type Tool = ToolDefinition;

type ToolOptions<Input extends z.ZodObject> = Omit<ToolDefinition<Input>, "fail"> &
  Partial<Pick<ToolDefinition, "fail">>;

export function defineTool<Input extends z.ZodObject>(options: ToolOptions<Input>): Tool {
  return { fail: failureAnswer, ...options } as unknown as Tool;
}
