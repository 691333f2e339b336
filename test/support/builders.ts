// Rows with every field filled in; a test names only what it is about.

import type { NewEpisode } from "../../ts/store/episodes.js";
import type { NewMemory } from "../../ts/store/memories.js";
import type { NewEmbedding } from "../../ts/store/store.js";

export function aMemory(content: string, overrides: Partial<NewMemory> = {}): NewMemory {
  return {
    agentId: "agent-a",
    projectId: "",
    channel: "",
    msgId: "",
    content,
    source: { type: "User", id: "u1", name: "" },
    timestamp: "2026-11-30T09:00:00Z",
    metadata: {},
    createdAt: "2026-11-30 09:00:00",
    ...overrides,
  };
}

export function anEpisode(summary: string, overrides: Partial<NewEpisode> = {}): NewEpisode {
  return {
    agentId: "agent-a",
    projectId: "",
    channel: "",
    summary,
    keywords: "",
    startTime: null,
    endTime: null,
    resolved: false,
    createdAt: "2026-11-30 09:00:00",
    ...overrides,
  };
}

/** One block over a whole text. */
export function anEmbedding(values: readonly number[], identity = "test:model:3"): NewEmbedding {
  const vector = Float32Array.from(values);
  return { identity, dimension: vector.length, blocks: [{ startChar: 0, endChar: 1, vector }] };
}
