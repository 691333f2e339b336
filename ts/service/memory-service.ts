// One method per capability: what MCP, HTTP, CLI and the library call. Whole rows go out, cuts for readers
// are made in response/.

import type { Config } from "../config.js";
import type { Episode, Memory } from "../domain/memory.js";
import { recordKey } from "../domain/record.js";
import type { ReadScope } from "../domain/scope.js";
import { storageStamp } from "../domain/time.js";
import type { Embedder } from "../embedding/embedder.js";
import { describeError, invalidArgument, MemoryError } from "../errors.js";
import { log } from "../log.js";
import { within } from "../maintenance/progress.js";
import { recall } from "../recall/recall.js";
import { type ContextEntry, heldTexts, mergeByTime } from "../recall/with-context.js";
import { archiveEpisode, type EpisodeOutcome, type EpisodeRequest } from "../remember/archive-episode.js";
import { checkScope, cleanRequired } from "../remember/checks.js";
import { type StoreOutcome, storeMemory } from "../remember/store-memory.js";
import { notChangeable, type UpdateOutcome, updateMemory } from "../remember/update-memory.js";
import type { VectorSearch } from "../vectors/vector-search.js";
import type { Caller } from "./access.js";
import { Advisories } from "./advisories.js";
import { AmbientService } from "./ambient-service.js";
import type {
  ContextAnswer,
  ListArguments,
  RecallAnswer,
  RecallArguments,
  ScopeArguments,
  StoreArguments,
} from "./arguments.js";
import type { CalibrationService } from "./calibration-service.js";
import { type ContentsAnswer, type ContentsRef, readContents, rowOf } from "./contents.js";
import { type Refusal, refusalOf } from "./demands.js";
import type { MaintenanceService } from "./maintenance-service.js";
import { PersistencePauses } from "./persistence.js";
import { QuietMoment } from "./quiet-moment.js";
import { agentScope, readScope, writeScope } from "./scopes.js";
import type { ServiceParts } from "./service-parts.js";

const DEFAULT_LIMIT = 10;
/** Longest wait of a write for the vector service. */
const PUSH_WAIT_MS = 1000;

export class MemoryService {
  readonly config: Config;
  /** which sessions write nothing for now */
  readonly pauses: PersistencePauses;
  /** what unrelated texts look like in this store, and the precision of the gate */
  readonly calibration: CalibrationService;
  /** health, missing vectors, export, import, merge */
  readonly maintenance: MaintenanceService;
  /** ambient recall, relations, counted use */
  readonly ambient: AmbientService;
  readonly #parts: ServiceParts;
  readonly #calibration: QuietMoment;
  readonly #advisories: Advisories;

  constructor(parts: ServiceParts) {
    this.config = parts.config;
    this.pauses = new PersistencePauses(parts.clock);
    this.calibration = parts.calibration;
    this.#calibration = new QuietMoment(parts.supervisor, "calibration", () =>
      this.calibration.calibrateDue(),
    );
    this.maintenance = parts.maintenance;
    this.ambient = new AmbientService(parts);
    this.maintenance.beforeExport(() => this.ambient.uses.flush());
    this.maintenance.afterFill(() => {
      if (this.config.calibration.automatic) this.#calibration.start();
    });
    this.#advisories = new Advisories(parts.config.maintenance.advisory, parts.isShared);
    this.#parts = parts;
  }

  /** Stores a memory, or skips it when the bucket holds the text or the msg_id already. Never changes a row. */
  async store(request: StoreArguments): Promise<StoreOutcome> {
    const { store } = this.#parts;
    const scope = writeScope(request, this.config);
    const outcome = await storeMemory(
      { ...request, scope },
      {
        config: this.config,
        clock: this.#parts.clock,
        embedText: this.#parts.embedText,
        findByMsgId: (scope, msgId) => store.memories.findByMsgId(scope, msgId),
        findByContent: (scope, content) => store.memories.findByContent(scope, content),
        addMemory: (memory, embedding) => store.addMemory(memory, embedding),
        write: (work) => store.database.write(work),
        relationTargets: (relations) => this.ambient.relationTargets(relations, { agentId: scope.agentId }),
        addRelation: (id, key, type, createdAt) =>
          store.relations.add(recordKey("mem", id), key, type, createdAt),
      },
    );
    if (outcome.result !== "stored") return outcome;
    this.#grew();
    return this.#pushed(outcome);
  }

  /** Finds memories and episodes by words and meaning; the last row is the best. */
  async recall(request: RecallArguments): Promise<RecallAnswer> {
    this.#calibration.touch();
    const scope = readScope(request, this.config);
    const outcome = await recall(
      {
        query: request.query,
        scope,
        limit: request.limit ?? DEFAULT_LIMIT,
        sourceId: request.sourceId ?? null,
        excludeContents: request.excludeContents ?? [],
        deep: request.deep ?? false,
        trace: request.trace ?? false,
        passages: request.passages ?? null,
      },
      this.#parts.recallParts,
    );
    this.ambient.listed(outcome.hits.flatMap(({ row }) => (row.kind === "profile" ? [] : [row])));
    const advisory = this.#advisories.of(request.sessionKey, outcome.degraded, {
      vectors: this.maintenance.hasGaps,
      words: this.maintenance.lacksWords(),
    });
    const answer = { ...outcome, advisory };
    return answer.hits.length > 0 ? answer : { ...answer, ...this.#otherAgents(scope) };
  }

  /** An answer that is empty because the agent has no rows must not look like "nothing relevant". */
  #otherAgents(scope: ReadScope): { otherAgents?: readonly string[] } {
    const own = this.#parts.store.pool({ ...scope, projectId: null, channel: null });
    if (own.memories + own.episodes > 0) return {};
    const agents = this.#parts.store.agents(10);
    return agents.length === 0 ? {} : { otherAgents: agents };
  }

  /** The rows of 1 to 20 refs, or parts of them. Foreign, unknown and malformed refs are `missing`, never an error. */
  getContents(refs: readonly ContentsRef[], scope: ScopeArguments = {}): ContentsAnswer {
    const visible = agentScope(scope, this.config);
    const answer = readContents(refs, (record) => rowOf(record, visible, this.#parts.store));
    this.ambient.opened(answer.rows);
    return answer;
  }

  /** Newest first by storage time, behind `after` where that is given. An agent of `""` lists all agents. */
  listMemories(request: ListArguments = {}): Memory[] {
    const scope = readScope(request, this.config, { allAgents: true });
    return this.#parts.store.memories.page(scope, request.after ?? null, request.limit ?? 100);
  }

  listEpisodes(request: ListArguments = {}): Episode[] {
    const scope = readScope(request, this.config, { allAgents: true });
    return this.#parts.store.episodes.page(scope, request.after ?? null, request.limit ?? 50);
  }

  /** Recall merged with the caller's conversation, chronological by the moments that stamps name. */
  async recallWithContext(
    request: RecallArguments,
    entries: readonly ContextEntry[],
  ): Promise<ContextAnswer> {
    const held = [...(request.excludeContents ?? []), ...heldTexts(entries)];
    const answer = await this.recall({ ...request, excludeContents: held });
    return { ...answer, merged: mergeByTime(answer.hits, entries) };
  }

  /** Puts a new text in the place of a memory's. Throws `not_found` or `invalid_argument`. */
  async updateMemory(id: number, content: string, scope: ScopeArguments = {}): Promise<UpdateOutcome> {
    const { store } = this.#parts;
    const outcome = await updateMemory(id, content, {
      config: this.config,
      embedText: this.#parts.embedText,
      visible: (row) => this.#ownMemory(row, scope),
      holder: (memory, text) => store.memories.findHolder(memory, text),
      replaceContent: (row, text, embedding) => store.replaceContent(row, text, embedding),
      write: (work) => store.database.write(work),
    });
    this.#vectorsChanged();
    return this.#pushed(outcome);
  }

  /**
   * The vector service is told behind the answer. Where no vector is kept here the answer waits a second for it:
   * a text that the service has counts as embedded.
   */
  async #pushed<Outcome extends { readonly id: number; readonly embedded: boolean }>(
    outcome: Outcome,
  ): Promise<Outcome> {
    const pushing = this.#parts.remote?.push(recordKey("mem", outcome.id));
    if (outcome.embedded) return outcome;
    const isPushed = pushing !== undefined && (await within(PUSH_WAIT_MS, pushing, false));
    if (isPushed) return { ...outcome, embedded: true };
    this.maintenance.noteGap();
    return outcome;
  }

  /** Deletes a memory of the agent. Throws `not_found`, also for rows of others and locked ones. */
  async deleteMemory(id: number, scope: ScopeArguments = {}): Promise<void> {
    const { store } = this.#parts;
    await store.database.write(() => {
      const memory = this.#ownMemory(id, scope);
      if (memory === null || memory.locked) throw notChangeable(id);
      store.deleteMemory(id);
    });
    this.#vectorsChanged();
    this.#parts.remote?.withdraw([recordKey("mem", id)]).catch(logFailure);
  }

  /** Protects a memory against edits and deletion, or ends that. Changes no ranking. */
  async setLocked(id: number, locked: boolean, scope: ScopeArguments = {}): Promise<void> {
    const { store } = this.#parts;
    await store.database.write(() => {
      if (this.#ownMemory(id, scope) === null) throw notChangeable(id);
      store.memories.setLocked(id, locked);
    });
  }

  #ownMemory(id: number, scope: ScopeArguments): Memory | null {
    const visible = agentScope(scope, this.config);
    return this.#parts.store.memories.get([id], visible)[0] ?? null;
  }

  /** Stores a session summary; the episode boundary of its scope moves to now. */
  async archiveEpisode(request: Omit<EpisodeRequest, "scope"> & ScopeArguments): Promise<EpisodeOutcome> {
    const { store } = this.#parts;
    const outcome = await archiveEpisode(
      { ...request, scope: writeScope(request, this.config) },
      {
        config: this.config,
        clock: this.#parts.clock,
        embedText: this.#parts.embedText,
        addEpisode: (episode, embedding) => store.database.write(() => store.addEpisode(episode, embedding)),
      },
    );
    this.#vectorsChanged();
    this.#parts.remote?.push(recordKey("ep", outcome.id)).catch(logFailure);
    return outcome;
  }

  async deleteEpisode(id: number, scope: ScopeArguments = {}): Promise<void> {
    const { store } = this.#parts;
    const visible = agentScope(scope, this.config);
    await store.database.write(() => {
      if (store.episodes.get([id], visible).length === 0) {
        throw new MemoryError("not_found", `Episode ${id} not found or not owned by agent`, {
          field: "episode_id",
        });
      }
      store.deleteEpisode(id);
    });
    this.#vectorsChanged();
    this.#parts.remote?.withdraw([recordKey("ep", id)]).catch(logFailure);
  }

  /** The agent's profile, "" when there is none. */
  getProfile(scope: ScopeArguments = {}): string {
    return this.#parts.store.profiles.get(writeScope(scope, this.config).agentId) ?? "";
  }

  /** Replaces the agent's one profile. Returns whether the text was cut to the cap. */
  async updateProfile(profile: string, scope: ScopeArguments = {}): Promise<{ truncated: boolean }> {
    const { agentId } = writeScope(scope, this.config);
    checkScope({ agentId, projectId: "", channel: "" });
    const clean = cleanRequired("profile", profile, this.config.limits.profileChars);
    const { store, clock } = this.#parts;
    await store.database.write(() => store.profiles.put(agentId, clean.text, storageStamp(clock.now())));
    return { truncated: clean.truncated };
  }

  /** Deletes everything of one agent, named by the caller, locked rows too. Once begun it is carried through. */
  async deleteAgentData(agentId: string): Promise<{ memories: number; episodes: number; profiles: number }> {
    if (agentId === "") throw invalidArgument("agent_id", "is required for bulk deletion");
    const deleted = await this.maintenance.deleteAgent(agentId);
    await this.calibration.forget(agentId);
    this.#vectorsChanged();
    this.#parts.remote?.run().catch(logFailure);
    return deleted;
  }

  /** A store that has grown much is calibrated anew, when nobody has asked anything for a while. */
  #grew(): void {
    this.#vectorsChanged();
    if (this.config.calibration.automatic) this.#calibration.start();
  }

  /** What the caller lacks for a call of this tool; null when it may go ahead. */
  refusal(caller: Caller, tool: string, args: Readonly<Record<string, unknown>>): Refusal | null {
    return refusalOf(caller, tool, args, this.config);
  }

  #vectorsChanged(): void {
    this.#parts.vectorSearch()?.scheduleSync();
  }

  /** Lets the embedder make a vector of nothing in particular, with the time that texts have; see `status`. */
  async tryEmbedder(): Promise<void> {
    await this.#parts.embedder.embedDocuments(["memory"]).catch(() => {});
  }

  /** What runs underneath, for people who ask. */
  status(): {
    embedder: ReturnType<Embedder["state"]>;
    driver: string;
    vectors: ReturnType<VectorSearch["info"]> | null;
  } {
    return {
      embedder: this.#parts.embedder.state(),
      driver: this.#parts.store.database.driverName,
      vectors: this.#parts.vectorSearch()?.info() ?? null,
    };
  }

  /** Checks the words index and takes up pending vectors; meant for a quiet moment after the start. */
  async maintain(): Promise<void> {
    const { automatic, atEveryStart } = this.config.calibration;
    await this.maintenance.runOnce();
    // With vectors of some records only it would learn from those; it follows when the last one is made.
    const isWhole = !this.maintenance.hasGaps;
    if ((automatic && isWhole) || atEveryStart)
      await this.#parts.supervisor.run("calibration", () =>
        this.calibration.calibrateDue({ all: atEveryStart }),
      );
  }

  /** Waits for background work and closes the files. */
  async close(): Promise<void> {
    this.#calibration.stop();
    this.#parts.supervisor.close();
    // First of all: a running embedding call is what others would wait for.
    this.#parts.embedder.close();
    await this.maintenance.close();
    await this.calibration.idle();
    await this.ambient.uses.flush().catch(logFailure);
    await this.#parts.store.database.settle();
    await this.#parts.close();
  }
}

/** What a vector service was not told stays a difference that a later run makes good. */
function logFailure(error: unknown): void {
  log("debug", `behind an answer: ${describeError(error)}`);
}

export type {
  ContentsAnswer,
  ContextAnswer,
  RecallAnswer,
  RecallArguments,
  ScopeArguments,
  StoreArguments,
  StoreOutcome,
};
