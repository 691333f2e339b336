// The tools, in the order an agent meets them.

import type { Tool } from "../define-tool.js";
import { deleteMemory } from "./delete-memory.js";
import { getContents } from "./get-contents.js";
import { listMemories } from "./list-memories.js";
import { recall } from "./recall.js";
import { store } from "./store.js";

export const TOOLS: readonly Tool[] = [store, recall, getContents, listMemories, deleteMemory];
