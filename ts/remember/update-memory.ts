// Changing a memory on purpose: new text, new words, new vectors; time, source and id stay.

import type { Config } from "../config.js";
import type { Memory } from "../domain/memory.js";
import { invalidArgument, MemoryError } from "../errors.js";
import type { NewEmbedding } from "../store/store.js";
import type { EmbedText } from "./block-embedder.js";
import { cleanRequired } from "./checks.js";

export interface UpdateOutcome {
  readonly id: number;
  readonly truncated: boolean;
  /** false: the new text has no vector yet, the old one is gone with the old text */
  readonly embedded: boolean;
}

export interface UpdateMemoryParts {
  readonly config: Config;
  readonly embedText: EmbedText;
  /** the row, if the caller may change it */
  readonly visible: (id: number) => Memory | null;
  /** the row that holds this text in exactly the row's bucket */
  readonly holder: (memory: Memory, content: string) => number | null;
  readonly replaceContent: (id: number, content: string, embedding: NewEmbedding | null) => void;
  /** Runs `work` in one transaction when its turn has come; resolves when it is committed. */
  readonly write: <T>(work: () => T) => Promise<T>;
}

/** Throws `not_found` (also for rows of others), `locked`, or `invalid_argument`. */
export async function updateMemory(
  id: number,
  content: string,
  parts: UpdateMemoryParts,
): Promise<UpdateOutcome> {
  const clean = cleanRequired("content", content, parts.config.limits.contentChars);
  checkUpdatable(id, clean.text, parts);
  const embedding = await parts.embedText(clean.text);
  return parts.write(() => {
    // The row may have been locked, deleted or doubled while the text was embedded.
    checkUpdatable(id, clean.text, parts);
    parts.replaceContent(id, clean.text, embedding);
    return { id, truncated: clean.truncated, embedded: embedding !== null };
  });
}

function checkUpdatable(id: number, content: string, parts: UpdateMemoryParts): void {
  const memory = parts.visible(id);
  if (memory === null || memory.locked) throw notChangeable(id);
  const holder = parts.holder(memory, content);
  if (holder !== null && holder !== id) {
    throw invalidArgument(
      "content",
      `is held by memory ${holder} in the same agent, project and channel; one copy is kept per bucket`,
    );
  }
}

/** One text for all three reasons: it tells nobody whether a foreign row exists. */
export function notChangeable(id: number): MemoryError {
  return new MemoryError("not_found", `Memory ${id} not found, not owned by agent, or locked`, {
    field: "memory_id",
  });
}
