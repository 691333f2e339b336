// Rows of the ground state, as the rest of the code sees them.

import type { Source } from "./source.js";

/** What a memory is: values and intentions are personas, the rest only says what it is about. */
export const MEMORY_KINDS = ["note", "agent", "value", "intention", "commitment", "reference"] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/** One stored statement. */
export interface Memory {
  readonly id: number;
  readonly agentId: string;
  readonly projectId: string;
  readonly channel: string;
  /** the caller's idempotency key, "" when none */
  readonly msgId: string;
  readonly content: string;
  readonly source: Source;
  /** the record's own time as the caller wrote it */
  readonly timestamp: string;
  readonly metadata: { readonly [key: string]: unknown };
  readonly locked: boolean;
  readonly kind: MemoryKind;
  readonly tags: readonly string[];
  /** storage time, `YYYY-MM-DD HH:MM:SS` in UTC */
  readonly createdAt: string;
}

/** A session summary. */
export interface Episode {
  readonly id: number;
  readonly agentId: string;
  readonly projectId: string;
  readonly channel: string;
  readonly summary: string;
  readonly keywords: string;
  readonly startTime: string | null;
  readonly endTime: string | null;
  readonly resolved: boolean;
  readonly createdAt: string;
}

/** The moment an episode is shown with: its start, else when it was stored. */
export function episodeTime(episode: Episode): string {
  return episode.startTime === null || episode.startTime === "" ? episode.createdAt : episode.startTime;
}

/** Marks an episode's text wherever it stands among memories. */
export const EPISODE_LABEL = "[Episode] ";
