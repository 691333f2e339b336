// What the service is made of.

import type { AmbientParts } from "../ambient/types.js";
import type { Config } from "../config.js";
import type { Embedder } from "../embedding/embedder.js";
import type { RemotePush } from "../maintenance/remote-push.js";
import type { RecallParts } from "../recall/recall-parts.js";
import type { EmbedText } from "../remember/block-embedder.js";
import type { Store } from "../store/store.js";
import type { Supervisor } from "../supervisor.js";
import type { VectorSearch } from "../vectors/vector-search.js";
import type { CalibrationService } from "./calibration-service.js";
import type { MaintenanceService } from "./maintenance-service.js";

/** The parts that the service works with; `open-memory.ts` builds them. */
export interface ServiceParts {
  readonly config: Config;
  readonly clock: { now(): number };
  readonly store: Store;
  readonly embedder: Embedder;
  readonly embedText: EmbedText;
  readonly recallParts: RecallParts;
  readonly vectorsOf: AmbientParts["vectorsOf"];
  readonly calibration: CalibrationService;
  readonly maintenance: MaintenanceService;
  /** tells the vector service of changes; null in mode local */
  readonly remote: RemotePush | null;
  /** background work runs under it */
  readonly supervisor: Supervisor;
  /** the vector search of the embedder's identity, once it is known */
  readonly vectorSearch: () => VectorSearch | null;
  /** many clients share this process: one of them having been told something tells the others nothing */
  readonly isShared: boolean;
  readonly close: () => Promise<void>;
}
