// What a recall is asked, what it works with, and what it answers.

import type { Config } from "../config.js";
import type { Episode, Memory } from "../domain/memory.js";
import type { ReadScope, SourceFilter } from "../domain/scope.js";
import type { Embedder } from "../embedding/embedder.js";
import type { QuestionDirections } from "../embedding/question-direction.js";
import type { Fusion } from "../native/contract.js";
import type { ScopePool } from "../store/scopes.js";
import type { Use } from "../store/uses.js";
import type { Hit } from "./candidate.js";
import type { FindNeighbours } from "./neighbours.js";
import type { LexicalSource } from "./retrievers/lexical.js";
import type { Degraded, RemoteVectors } from "./retrievers/meaning.js";
import type { VectorSource } from "./retrievers/vector.js";
import type { RecallTrace } from "./trace.js";

/** Asks which passages of long rows answer the query. */
export interface PassageRequest {
  /** longest passage, in characters */
  readonly maxChars: number;
  /** the hits whose passages are wanted */
  of(hits: readonly Hit[]): ReadonlySet<Hit>;
}

export interface RecallRequest {
  readonly query: string;
  readonly scope: ReadScope;
  /** most rows in the answer; clamped to the scan window */
  readonly limit: number;
  /** restricts memories by the id of their source; null or "" restricts nothing */
  readonly sourceId: string | null;
  /** texts the caller holds already */
  readonly excludeContents: readonly string[];
  /** asks for more: halves the gate, and confidence forgets age */
  readonly deep: boolean;
  readonly trace: boolean;
  /** null asks for none; a blank query has none */
  readonly passages: PassageRequest | null;
}

export interface RecallOutcome {
  /** ascending relevance: the last row is the best */
  readonly hits: readonly Hit[];
  /** every row lay below the gate, and rows found by words are shown all the same (confidence only) */
  readonly gateFallback: boolean;
  /** why the search by meaning was less than whole; null when it was not */
  readonly degraded: Degraded | null;
  readonly trace: RecallTrace | null;
}

/** The calibrated levels of the gate, each on its own signal's scale. */
export interface CalibratedLevels {
  /** median raw cosine of unrelated texts in this store; null before calibration */
  readonly unrelated: number | null;
  /** raw cosine from which meaning alone opens an answer; null before calibration */
  readonly cosine: number | null;
  /** confidence value of the gate, where confidence gates; null before calibration */
  readonly confidence: number | null;
  /** weight of precision: above 1 the gate is stricter, below 1 more lenient */
  readonly beta: number;
}

export interface RecallParts {
  readonly config: Config;
  readonly clock: { now(): number };
  readonly embedder: Embedder;
  /** what questions have in common for this embedder; null while it is unknown, or nothing */
  readonly questionDirections: () => QuestionDirections | null;
  readonly fusion: Fusion;
  readonly lexical: LexicalSource;
  /** null when the embedder's vectors cannot be searched (off, or not known yet) */
  readonly vectors: () => VectorSource | null;
  /** searched in place of them; null in mode local */
  readonly remote: RemoteVectors | null;
  readonly levels: (scope: ReadScope) => CalibratedLevels;
  readonly pool: (scope: ReadScope) => ScopePool;
  readonly memoriesById: (ids: readonly number[], scope: ReadScope, source: SourceFilter | null) => Memory[];
  readonly episodesById: (ids: readonly number[], scope: ReadScope) => Episode[];
  readonly newestMemories: (
    scope: ReadScope,
    source: SourceFilter | null,
    limit: number,
    offset: number,
  ) => Memory[];
  /** keys of the newest memories of a source, ascending */
  readonly memoryKeysBySource: (scope: ReadScope, source: SourceFilter, limit: number) => Float64Array;
  /** keys of the rows that the scope's tags exclude, ascending; null when there are none */
  readonly excludedKeys: (scope: ReadScope) => Float64Array | null;
  readonly neighbours: FindNeighbours;
  /** storage time of the newest episode in scope */
  readonly newestEpisodeAt: (scope: ReadScope) => string | null;
  readonly memorySpan: (scope: ReadScope) => { oldest: number; newest: number } | null;
  readonly profile: (agentId: string) => string | null;
  readonly uses: (keys: readonly number[]) => Map<number, Use>;
}
