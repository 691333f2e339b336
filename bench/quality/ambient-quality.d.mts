import type { StoreOutcome } from "../../ts/remember/store-memory.js";
import type { MemoryService, StoreArguments } from "../../ts/service/memory-service.js";

export interface GoldenRow {
  readonly axis: string;
  readonly query: string;
  readonly isRight: boolean;
}

export interface GateFigures {
  readonly answered: number;
  readonly opened: number;
  readonly first: number;
  readonly precision: number;
  readonly unanswered: number;
  readonly smallTalk: number;
  readonly connected: number;
  readonly connectedOf: number;
  readonly connectedAlone: number;
}

export function storeSmoke(service: MemoryService, request: StoreArguments): Promise<StoreOutcome>;
export function measureGolden(
  service: MemoryService,
  options?: { now?: number; ageMs?: number; heavy?: boolean },
): Promise<GoldenRow[]>;
export function measureCorrection(
  service: MemoryService,
): Promise<{ first: string | null; showsOld: boolean; isMarked: boolean }>;
export function measureGate(service: MemoryService, rows: number): Promise<GateFigures>;
export function heatMap(rows: readonly GoldenRow[]): string;
