// The tools, in the order an agent meets them.

import type { Tool } from "../define-tool.js";
import { ambientRecall } from "./ambient-recall.js";
import { archiveEpisode } from "./archive-episode.js";
import { calibrateThreshold } from "./calibrate-threshold.js";
import { checkHealth } from "./check-health.js";
import { deepCheck } from "./deep-check.js";
import { deleteAgentData } from "./delete-agent-data.js";
import { deleteEpisode } from "./delete-episode.js";
import { deleteMemory } from "./delete-memory.js";
import { exportMemories } from "./export-memories.js";
import { getContents } from "./get-contents.js";
import { getOperatingContext } from "./get-operating-context.js";
import { getProfile } from "./get-profile.js";
import { getQueueStatus } from "./get-queue-status.js";
import { getRecallPrecision } from "./get-recall-precision.js";
import { importMemories } from "./import-memories.js";
import { listEpisodes } from "./list-episodes.js";
import { listMemories } from "./list-memories.js";
import { lockMemory } from "./lock-memory.js";
import { mergeMemories } from "./merge-memories.js";
import { pausePersistence } from "./pause-persistence.js";
import { persistenceStatus } from "./persistence-status.js";
import { recall } from "./recall.js";
import { recallWithContext } from "./recall-with-context.js";
import { relate } from "./relate.js";
import { resumePersistence } from "./resume-persistence.js";
import { setRecallPrecision } from "./set-recall-precision.js";
import { store } from "./store.js";
import { unlockMemory } from "./unlock-memory.js";
import { updateMemory } from "./update-memory.js";
import { updateProfile } from "./update-profile.js";

export const TOOLS: readonly Tool[] = [
  store,
  recall,
  recallWithContext,
  ambientRecall,
  getContents,
  updateMemory,
  relate,
  archiveEpisode,
  updateProfile,
  getProfile,
  listMemories,
  listEpisodes,
  lockMemory,
  unlockMemory,
  deleteMemory,
  deleteEpisode,
  deleteAgentData,
  calibrateThreshold,
  setRecallPrecision,
  getRecallPrecision,
  pausePersistence,
  resumePersistence,
  persistenceStatus,
  getOperatingContext,
  getQueueStatus,
  checkHealth,
  deepCheck,
  exportMemories,
  importMemories,
  mergeMemories,
];

/** What an agent needs every day: all that `CPERSONA_TOOLS=core` shows. */
const CORE = new Set([
  "store",
  "recall",
  "recall_with_context",
  "get_contents",
  "update_memory",
  "archive_episode",
  "update_profile",
  "ambient_recall",
  "relate",
]);

export function toolsOf(set: "core" | "all"): readonly Tool[] {
  return set === "all" ? TOOLS : TOOLS.filter(({ name }) => CORE.has(name));
}
