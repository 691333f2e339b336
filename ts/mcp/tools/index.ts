// The tools, in the order an agent meets them.

import type { Tool } from "../define-tool.js";
import { archiveEpisode } from "./archive-episode.js";
import { calibrateThreshold } from "./calibrate-threshold.js";
import { deleteAgentData } from "./delete-agent-data.js";
import { deleteEpisode } from "./delete-episode.js";
import { deleteMemory } from "./delete-memory.js";
import { getContents } from "./get-contents.js";
import { getProfile } from "./get-profile.js";
import { getRecallPrecision } from "./get-recall-precision.js";
import { listEpisodes } from "./list-episodes.js";
import { listMemories } from "./list-memories.js";
import { lockMemory } from "./lock-memory.js";
import { pausePersistence } from "./pause-persistence.js";
import { persistenceStatus } from "./persistence-status.js";
import { recall } from "./recall.js";
import { recallWithContext } from "./recall-with-context.js";
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
  getContents,
  updateMemory,
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
];
