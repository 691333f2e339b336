// What maintenance works with.

import type { Config } from "../config.js";
import type { Backfill } from "../maintenance/backfill.js";
import type { DeepCheckParts } from "../maintenance/deep-check.js";
import type { JobRunner } from "../maintenance/jobs/jobs.js";
import type { OldVectors } from "../maintenance/old-vectors.js";
import type { OperatingContextReader } from "../maintenance/operating-context.js";
import type { RemotePush } from "../maintenance/remote-push.js";
import type { ExportSnapshot } from "../maintenance/transfer/export.js";
import type { ImportParts } from "../maintenance/transfer/import.js";
import type { RecordSource } from "../maintenance/transfer/source.js";
import type { LexicalRepair } from "../store/lexical-repair.js";
import type { Store } from "../store/store.js";
import type { Supervisor } from "../supervisor.js";

export interface MaintenanceParts {
  readonly config: Config;
  readonly clock: { now(): number };
  readonly backfill: Backfill;
  readonly health: DeepCheckParts;
  readonly store: Store;
  readonly jobs: JobRunner;
  readonly imports: ImportParts;
  readonly operatingContext: OperatingContextReader;
  /** one unchanging view of the store; `close` it */
  readonly snapshot: (embeddings: boolean) => ExportSnapshot & { close(): void };
  readonly openCPersonaFile: (path: string) => RecordSource;
  readonly oldVectors: OldVectors;
  /** asks a new embedder what questions have in common for it; rejects when the backend fails */
  readonly learnQuestions: () => Promise<void>;
  /** keeps the vector service level with the store; null in mode local */
  readonly remote: RemotePush | null;
  /** changes when records or vectors may have come, or the embedder is another; cheap to ask */
  readonly writeMark: () => string;
  readonly lexicalRepair: LexicalRepair;
  readonly supervisor: Supervisor;
  readonly syncVectors: () => Promise<void>;
  /** records came or went: indexes and calibration follow */
  readonly changed: () => void;
}
