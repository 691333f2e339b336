// One tool = name, words for the agent, schemas, hints, handler. Handlers call one service method and shape
// its result; they never build protocol objects.

import type { z } from "zod";
import { failureAnswer } from "../response/answers.js";
import type { WireObject } from "../response/rows.js";
import type { Caller } from "../service/access.js";
import type { MemoryService } from "../service/memory-service.js";

export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: false;
}

/** What a handler may know of a call beyond its arguments. */
export interface ToolContext {
  /** who is calling; absent where no access list is set, and then everything is allowed */
  readonly caller?: Caller | undefined;
  /** how far a long call is; absent when the client did not ask */
  readonly progress?: ((done: number, total: number) => void) | undefined;
  /** told while a write of the call waits for another process; absent likewise */
  readonly waiting?: ((waitedMs: number) => void) | undefined;
}

export interface ToolDefinition<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** one sentence, when to use it, the one trap */
  readonly description: string;
  readonly input: Input;
  /**
   * Top-level keys of the answer, all optional: failures have the same schema. A tool without one answers with
   * content alone, and may answer with a plain text.
   */
  readonly output?: z.ZodObject | undefined;
  readonly hints: ToolHints;
  /** characters of its largest answer; clients that cut tool results at a lower limit of their own are told */
  readonly maxResultChars?: number;
  /** what a call over REST means by leaving an argument out, where that differs */
  readonly restDefaults?: Readonly<Record<string, unknown>>;
  handle(
    input: z.output<Input>,
    service: MemoryService,
    context: ToolContext,
  ): Promise<WireObject | string> | WireObject | string;
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
