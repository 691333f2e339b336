// The library's public names.

export type { Episode, Memory } from "./domain/memory.js";
export type { Source } from "./domain/source.js";
export { MemoryError, type MemoryErrorCode } from "./errors.js";
export { type OpenMemoryOptions, openMemory } from "./open-memory.js";
export type { Hit, MatchReason, ProfileRow, RecordRow, Signal } from "./recall/candidate.js";
export type { StoreOutcome } from "./remember/store-memory.js";
export type {
  ContentsAnswer,
  MemoryService,
  RecallAnswer,
  RecallArguments,
  ScopeArguments,
  StoreArguments,
} from "./service/memory-service.js";
