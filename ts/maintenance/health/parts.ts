// What the checks look at. Wired in `wiring/maintenance-parts.ts`.

import type { Config } from "../../config.js";
import type { Embedder } from "../../embedding/embedder.js";
import type { Health } from "../../store/health.js";
import type { SchemaFault } from "../../store/schema-check.js";
import type { MovedProfile, TransferCounts } from "../../store/transfer.js";
import type { Standstill } from "../../supervisor.js";
import type { Backfill } from "../backfill.js";
import type { OperatingContextReader } from "../operating-context.js";
import type { RemotePush } from "../remote-push.js";

export interface HealthParts {
  readonly config: Config;
  readonly clock: { now(): number };
  readonly rows: Health;
  readonly embedder: Pick<Embedder, "state">;
  /** code of the present embedder's vectors; null while it is off or unknown */
  readonly embedderCode: () => number | null;
  /** whether every text gets a vector, and that is kept here */
  readonly embedsHere: () => boolean;
  readonly backfill: Backfill;
  /** the vector service and what is wrong with it; null in mode local */
  readonly remote: { readonly push: RemotePush; readonly failure: () => string | null } | null;
  /** background work that does not get on */
  readonly standing: () => readonly Standstill[];
  readonly vectors: () => { readonly rows: number; readonly behind: number } | null;
  readonly syncVectors: () => Promise<void>;
  /** whether the files of the vector index pass their checksums */
  readonly areVectorFilesIntact: () => Promise<boolean>;
  readonly rebuildVectors: () => Promise<void>;
  readonly operatingContext: OperatingContextReader;
  readonly native: { readonly kind: string; readonly simd: string; readonly notice: string | null };
  readonly driver: string;
  readonly knownSchema: number;
  counts(agentId: string | null): TransferCounts;
  isLexicalIntact(): boolean;
  /** fills the words index anew where it lacks records or is damaged */
  repairLexical(): Promise<boolean>;
  schemaFaults(): readonly SchemaFault[];
  repairSchemaFault(fault: SchemaFault): void;
  contentHash(content: string): Uint8Array;
  /** new text for an unlocked row; "held" when its bucket holds that text already */
  replaceContent(id: number, content: string): "replaced" | "held";
  deleteMemory(id: number): void;
  dropVectors(keys: readonly number[]): void;
  profiles(agentId: string | null): readonly MovedProfile[];
  putProfile(profile: MovedProfile): void;
  transaction<T>(work: () => T): T;
}
