// Ambient recall and what feeds it: declared relations, counted use, what was shown lately. One function fills
// the block for every door.

import { ambientRecall } from "../ambient/ambient-recall.js";
import { renderBlock } from "../ambient/block.js";
import type { AmbientOutcome, AmbientParts, AmbientSlots } from "../ambient/types.js";
import { wordingFor } from "../ambient/wording.js";
import type { Config } from "../config.js";
import { parseRef, recordKey } from "../domain/record.js";
import type { RelationType } from "../domain/relation.js";
import type { ReadScope } from "../domain/scope.js";
import { storageStamp } from "../domain/time.js";
import { describeError, invalidArgument, MemoryError } from "../errors.js";
import { log } from "../log.js";
import { type RecordRow, rowId } from "../recall/candidate.js";
import type { RecallParts } from "../recall/recall-parts.js";
import { rowsOfKeys } from "../recall/retrieve.js";
import type { Store } from "../store/store.js";
import type { Supervisor } from "../supervisor.js";
import { countChars } from "../text/characters.js";
import type { ScopeArguments } from "./memory-service.js";
import { agentScope, readScope } from "./scopes.js";
import { UseCounter } from "./use-counter.js";

export interface AmbientArguments extends ScopeArguments {
  /** the current prompt */
  readonly query: string;
  /** earlier prompts, oldest first */
  readonly history?: readonly string[] | undefined;
  /** 1 to 10; default `GAOTTT_AMBIENT_DIRECT_K` */
  readonly directK?: number | undefined;
  readonly minScore?: number | undefined;
  /** least characters of the composed text, default 0 */
  readonly minChars?: number | undefined;
  /** memories with a tag that contains one of these are left out of every slot */
  readonly excludeTags?: readonly string[] | undefined;
  readonly exposeBreakdown?: boolean | undefined;
  /** ref -> how often it was shown lately */
  readonly recentlySurfaced?: Readonly<Record<string, number>> | undefined;
  /** remembers what was shown to this session, and damps it there */
  readonly sessionKey?: string | undefined;
}

export interface AmbientAnswer extends AmbientSlots {
  /** the block, or the sentinel */
  readonly text: string;
  readonly exposeBreakdown: boolean;
  readonly terms: readonly string[];
  readonly trace: AmbientOutcome["trace"];
}

export interface AmbientServiceParts {
  readonly config: Config;
  readonly clock: { now(): number };
  readonly store: Store;
  readonly recallParts: RecallParts;
  readonly supervisor: Supervisor;
  /** the calling embedder's vectors of each record's blocks */
  readonly vectorsOf: AmbientParts["vectorsOf"];
}

const MAX_EDGES = 200;
const MAX_DECLARED = 64;
const MAX_CO_USES = 50;
/** Declared personas are few; a store with more than this has another problem. */
const MAX_PERSONAS = 500;
/** How long a showing is kept. */
const SHOWING_MS = 2 * 86_400_000;
const MAX_SESSION_CHARS = 256;

export type RelateResult = "added" | "exists" | "removed" | "absent";

export class AmbientService {
  /** counts what was shown and opened, off the answer's path */
  readonly uses: UseCounter;
  readonly #parts: AmbientServiceParts;
  readonly #ambient: AmbientParts;

  constructor(parts: AmbientServiceParts) {
    const { store, clock, config, recallParts } = parts;
    this.#parts = parts;
    this.uses = new UseCounter(store, clock, parts.supervisor);
    this.#ambient = {
      recall: recallParts,
      config: config.ambient,
      relationsOf: (keys) => store.relations.touching(keys, MAX_EDGES),
      usedTogether: (keys) => store.uses.together(keys, clock.now(), MAX_CO_USES),
      vectorsOf: parts.vectorsOf,
      personas: (scope) => store.memories.personas(scope, MAX_PERSONAS),
    };
  }

  /** Fills the block. Passive: counts no use and changes nothing that ranks. */
  async recall(request: AmbientArguments): Promise<AmbientAnswer> {
    const { config } = this.#parts;
    const scope: ReadScope = {
      ...readScope(request, config),
      excludeTags: (request.excludeTags ?? []).filter((tag) => tag !== ""),
    };
    const session = (request.sessionKey ?? "").trim();
    if (countChars(session) > MAX_SESSION_CHARS)
      throw invalidArgument("session_key", `must have at most ${MAX_SESSION_CHARS} characters`);
    const exposeBreakdown = request.exposeBreakdown ?? false;
    const outcome = await ambientRecall(
      {
        query: request.query,
        history: request.history ?? [],
        scope,
        directK: Math.min(10, Math.max(1, request.directK ?? config.ambient.directK)),
        minScore: request.minScore ?? null,
        minChars: request.minChars ?? 0,
        shown: this.#shownLately(session, request.recentlySurfaced ?? {}),
        exposeBreakdown,
      },
      this.#ambient,
    );
    const block = renderBlock(outcome, {
      wording: wordingFor(config.ambient.lang, request.query),
      maxChars: config.ambient.maxChars,
      excerptChars: config.ambient.excerptChars,
      exposeBreakdown,
      terms: outcome.terms,
    });
    if (session !== "") this.#remember(session, block.slots);
    return { ...block.slots, text: block.text, exposeBreakdown, terms: outcome.terms, trace: outcome.trace };
  }

  /** The caller's own counts and the session's, the larger of the two: both may know of the same showing. */
  #shownLately(session: string, given: Readonly<Record<string, number>>): Map<number, number> {
    const counts = new Map<number, number>();
    for (const [ref, times] of Object.entries(given)) {
      const record = parseRef(/^\d+$/.test(ref) ? `mem:${ref}` : ref);
      if (record !== null && Number.isFinite(times)) counts.set(recordKey(record.kind, record.id), times);
    }
    if (session === "") return counts;
    try {
      const turns = this.#parts.config.ambient.noveltyTurns;
      for (const [key, times] of this.#parts.store.showings.counts(session, turns))
        counts.set(key, Math.max(times, counts.get(key) ?? 0));
    } catch (error) {
      log("debug", `what was shown lately is not known: ${describeError(error)}`);
    }
    return counts;
  }

  /** Behind the answer: a repeat is all that is lost when it fails. */
  #remember(session: string, { direct, lensing, persona }: AmbientSlots): void {
    const keys = [...direct, ...lensing, ...(persona === null ? [] : [persona])].map(({ key }) => key);
    if (keys.length > 0) this.uses.remember(session, keys, SHOWING_MS);
  }

  /** Declares or removes an edge between two records of the agent. */
  relate(
    fromRef: string,
    toRef: string,
    type: RelationType,
    options: ScopeArguments & { remove?: boolean | undefined } = {},
  ): Promise<RelateResult> {
    const { store, clock } = this.#parts;
    return store.database.write((): RelateResult => {
      const from = this.#visibleKey("from_ref", fromRef, options);
      const to = this.#visibleKey("to_ref", toRef, options);
      if (from === to) throw invalidArgument("to_ref", "must not be the same record as from_ref");
      if (options.remove === true) return store.relations.remove(from, to, type) ? "removed" : "absent";
      return store.relations.add(from, to, type, storageStamp(clock.now())) ? "added" : "exists";
    });
  }

  /** Keys of the far ends of relations that a new record declares; throws before anything is written. */
  relationTargets(
    relations: readonly { readonly type: RelationType; readonly ref: string }[],
    scope: ScopeArguments,
  ): { key: number; type: RelationType }[] {
    if (relations.length > MAX_DECLARED)
      throw invalidArgument("relations", `must be a list of at most ${MAX_DECLARED} items`);
    return relations.map(({ type, ref }, i) => ({
      type,
      key: this.#visibleKey(`relations[${i}].ref`, ref, scope),
    }));
  }

  /** Any project and channel of the agent: a relation may cross them. */
  #visibleKey(field: string, ref: string, scope: ScopeArguments): number {
    const record = parseRef(ref);
    if (record === null) throw invalidArgument(field, "must be a ref such as mem:12 or ep:3");
    const key = recordKey(record.kind, record.id);
    const visible = agentScope(scope, this.#parts.config);
    if (!rowsOfKeys(new Set([key]), visible, null, this.#parts.recallParts).has(key))
      throw new MemoryError("not_found", `${field} names no record of this agent`, { field });
    return key;
  }

  /** Rows that were opened by their refs, together. */
  opened(rows: readonly RecordRow[]): void {
    this.uses.opened(rows.map(keyOfRow));
  }

  /** Rows of an answer that somebody asked for, best last. */
  listed(rows: readonly RecordRow[]): void {
    this.uses.listed(rows.map(keyOfRow));
  }
}

function keyOfRow(row: RecordRow): number {
  return recordKey(row.kind, rowId(row));
}
