// What callers of the service hand in, and what a recall hands out.

import type { ListCursor } from "../domain/cursor.js";
import type { PassageRequest, RecallOutcome } from "../recall/recall-parts.js";
import type { MergedEntry } from "../recall/with-context.js";
import type { StoreRequest } from "../remember/store-memory.js";
import type { Advisory } from "./advisories.js";

/** The bucket a call names; what is left out comes from the settings. */
export interface ScopeArguments {
  readonly agentId?: string | undefined;
  /** `""` the global pool, `"*"` all projects (reads only) */
  readonly projectId?: string | undefined;
  readonly channel?: string | undefined;
}

export interface StoreArguments extends ScopeArguments, Omit<StoreRequest, "scope"> {}

export interface RecallArguments extends ScopeArguments {
  readonly query: string;
  /** most rows, default 10; clamped to the scan window */
  readonly limit?: number | undefined;
  readonly sourceId?: string | undefined;
  readonly excludeContents?: readonly string[] | undefined;
  readonly deep?: boolean | undefined;
  /** adds what each step did */
  readonly trace?: boolean | undefined;
  /** adds to long rows which of their passages answer the query */
  readonly passages?: PassageRequest | undefined;
  /** whose advisories these are */
  readonly sessionKey?: string | undefined;
}

export interface RecallAnswer extends RecallOutcome {
  /** what the reader should know about the search; null while all is well */
  readonly advisory: Advisory | null;
  /** the agent holds no rows at all, but these do */
  readonly otherAgents?: readonly string[];
}

export interface ContextAnswer extends RecallAnswer {
  readonly merged: readonly MergedEntry[];
}

export interface ListArguments extends ScopeArguments {
  readonly limit?: number | undefined;
  /** the last row of the page before */
  readonly after?: ListCursor | undefined;
}
