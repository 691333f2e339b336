// A memory inside the test's own process, on a real database in a temporary folder.

import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openMemory } from "../../ts/open-memory.js";
import type { MemoryService } from "../../ts/service/memory-service.js";
import { type FakeClock, fakeClock } from "./clock.js";
import { type Settings, testSettings } from "./settings.js";
import { tempFolder } from "./temp.js";

export interface TestMemory {
  readonly service: MemoryService;
  readonly clock: FakeClock;
  readonly path: string;
}

export interface TestMemoryOptions {
  readonly settings?: Settings;
  /** reopen this database instead of making a new one */
  readonly path?: string;
  readonly clock?: FakeClock;
}

export async function openTestMemory(options: TestMemoryOptions = {}): Promise<TestMemory> {
  const path = options.path ?? join(tempFolder(), "memory.db");
  const clock = options.clock ?? fakeClock();
  const service = await openMemory({ environment: testSettings(path, options.settings), clock });
  onTestFinished(() => service.close().catch(() => {}));
  return { service, clock, path };
}
