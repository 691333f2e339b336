// What keeps a store whole and moves it: health, missing vectors, export, import, merge, the operator's words.

import { describeError, invalidArgument, isStorageFault, MemoryError } from "../errors.js";
import { log } from "../log.js";
import type { BackfillOutcome } from "../maintenance/backfill.js";
import { type DeepReport, runDeepChecks } from "../maintenance/deep-check.js";
import { HEALTH_CHECKS } from "../maintenance/health/check.js";
import { type HealthReport, runHealthChecks } from "../maintenance/health/run-checks.js";
import { type DeleteState, DeleteWork } from "../maintenance/jobs/delete-work.js";
import type { JobNotice } from "../maintenance/jobs/jobs.js";
import { type MergeOutcome, type MergeRequest, mergeAgents } from "../maintenance/merge.js";
import type { OperatingContext } from "../maintenance/operating-context.js";
import type { Progress } from "../maintenance/progress.js";
import { exportLines } from "../maintenance/transfer/export.js";
import { importFile } from "../maintenance/transfer/import-file.js";
import type { ImportOutcome } from "../maintenance/transfer/import-report.js";
import { checkedPath, checkReplaceable, freePath } from "../maintenance/transfer/paths.js";
import { writeExport } from "../maintenance/transfer/write-export.js";
import type { TransferCounts } from "../store/transfer.js";
import type {
  ExportRequest,
  FileImportRequest,
  HealthCheckRequest,
  HealthStats,
  SelfMaintenance,
} from "./maintenance-arguments.js";
import type { MaintenanceParts } from "./maintenance-parts.js";

/** Checks whose repair reaches rows of every agent. */
const STORE_WIDE = new Set<string>(
  HEALTH_CHECKS.filter(({ reach, repairable }) => reach === "store" && repairable).map(({ name }) => name),
);

/** Names of work under the supervisor. */
const WORDS_INDEX = "words index";
const MISSING_VECTORS = "filling in of vectors";
/** The write that leaves a stretch behind is done by then. */
const WAITING_DELAY_MS = 20;

export class MaintenanceService {
  readonly #parts: MaintenanceParts;
  #self: SelfMaintenance = {
    runs: 0,
    lastRunAt: null,
    vectorsFilled: 0,
    wordsIndexRebuilt: 0,
    lastBackfill: null,
  };
  /** what the store had seen when nothing was left to do */
  #settledAt: string | null = null;
  /** records have no vector, as far as this process knows */
  #hasGaps = false;
  #flush: () => Promise<void> = async () => {};
  #whole: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  /** when the timer fires, ms on the clock of durations */
  #due = 0;
  #waitingTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: MaintenanceParts) {
    this.#parts = parts;
  }

  /** Whether records wait for a vector, as far as this process knows: a recall must not look for them. */
  get hasGaps(): boolean {
    return this.#hasGaps || this.#parts.backfill.isFilling;
  }

  /** Whether records may be missing among those found by words. Where that is so, the repair is begun soon. */
  lacksWords(): boolean {
    const lacks = this.#parts.lexicalRepair.isUnderWay();
    if (lacks) this.#startSoon(0);
    return lacks;
  }

  /** A record was stored without the vector that it should have. */
  noteGap(): void {
    this.#hasGaps ||= this.#parts.health.embedsHere();
  }

  /** Called before rows are read for an export or a merge: what is still in memory belongs to them. */
  beforeExport(flush: () => Promise<void>): void {
    this.#flush = flush;
  }

  /** Called when the last missing vector was made, by whichever process. */
  afterFill(whole: () => void): void {
    this.#whole = whole;
  }

  /** Looks at the store, and mends it where asked. Throws for names of checks that do not exist. */
  async checkHealth(request: HealthCheckRequest): Promise<HealthReport & { readonly stats: HealthStats }> {
    const agentId = request.agentId === "" ? null : request.agentId;
    const report = await runHealthChecks({ ...request, agentId }, this.#parts.health);
    if (Object.keys(report.repaired).length > 0) this.#parts.changed();
    return { ...report, stats: this.#stats(agentId) };
  }

  /** Whether a repair with these checks (none = all) reaches rows of every agent. */
  static reachesAllAgents(checks: readonly string[]): boolean {
    return checks.length === 0 || checks.some((name) => STORE_WIDE.has(name));
  }

  #stats(agentId: string | null): HealthStats {
    const { health } = this.#parts;
    const none: TransferCounts = { memories: 0, episodes: 0, profiles: 0 };
    const projects = new Map<string, number>();
    for (const { projectId, rows } of readable(() => health.rows.projects(agentId), []))
      projects.set(projectId, (projects.get(projectId) ?? 0) + rows);
    return {
      bytes: readable(() => health.rows.bytes(), 0),
      counts: readable(() => health.counts(null), none),
      agentCounts: agentId === null ? null : readable(() => health.counts(agentId), none),
      pending: readable(() => this.#pending(agentId), 0),
      projects: Array.from(projects, ([projectId, rows]) => ({ projectId, rows })),
      channels: readable(() => health.rows.channels(agentId), []),
      driver: health.driver,
      sqlite: health.rows.sqliteVersion(),
      native: health.native.kind === "native" ? health.native.simd : "typescript",
      embedder: health.embedder.state().status,
      vectors: readable(() => health.vectors(), null),
      self: this.#self,
    };
  }

  /** Vectors to make and records to push. */
  #pending(agentId: string | null): number {
    const { memories, episodes, waiting } = this.#parts.backfill.pending(agentId);
    return memories + episodes + waiting + (this.#parts.remote?.pending(agentId) ?? 0);
  }

  async deepCheck(request: HealthCheckRequest): Promise<DeepReport> {
    if (request.agentId === "") throw invalidArgument("agent_id", "must not be empty");
    const report = await runDeepChecks(request, this.#parts.health);
    if (request.fix) this.#parts.changed();
    return report;
  }

  queueStatus(): { enabled: boolean; pending: number; maxRetries: number; retryDelaySeconds: number } {
    const { maintenance } = this.#parts.config;
    return {
      enabled: maintenance.backfill && this.#parts.health.embedder.state().status !== "off",
      pending: this.#pending(null),
      maxRetries: maintenance.maxRetries,
      retryDelaySeconds: maintenance.retryDelayMs / 1000,
    };
  }

  /** Writes an export; the file appears whole or not at all. */
  async exportMemories(request: ExportRequest): Promise<TransferCounts & { readonly path: string }> {
    const folder = request.unconfined === true ? null : this.#parts.config.maintenance.exportFolder;
    const path =
      request.unconfined === true
        ? freePath("output_path", request.outputPath)
        : await checkedPath("output_path", request.outputPath, folder);
    const replaced = await checkReplaceable(path);
    if (replaced !== null) request.checkReplaced?.(replaced);
    // Counts that cannot be written now are worth less than an export.
    await this.#flush().catch(logFailure);
    const snapshot = this.#parts.snapshot(request.embeddings);
    try {
      const exportedAt = new Date(this.#parts.clock.now()).toISOString();
      const lines = exportLines(snapshot, request.agentId, exportedAt, request.progress);
      await writeExport(path, lines);
      return { path, ...snapshot.counts(request.agentId === "" ? null : request.agentId) };
    } finally {
      snapshot.close();
    }
  }

  /** Takes an export or a database of CPersona in. Throws `damaged_file`, and then the store is as it was. */
  async importMemories(request: FileImportRequest): Promise<ImportOutcome> {
    const { maintenance } = this.#parts.config;
    const outcome = await importFile(
      { ...request, folder: request.unconfined === true ? null : maintenance.exportFolder },
      {
        ...this.#parts.imports,
        openCPersonaFile: this.#parts.openCPersonaFile,
        maxBytes: maintenance.maxImportBytes,
      },
    );
    if (!outcome.dryRun) {
      this.#parts.changed();
      this.#startSoon(0);
    }
    return outcome;
  }

  /** Throws `invalid_argument`, or `storage_busy` while other long work changes rows of one of the agents. */
  async mergeMemories(request: MergeRequest): Promise<MergeOutcome> {
    await this.#flush();
    const outcome = await mergeAgents(request, this.#parts.store, this.#parts.jobs);
    if (!request.dryRun) {
      this.#parts.changed();
      this.#startSoon(0);
    }
    return outcome;
  }

  /** Deletes everything that an agent holds now, locked rows too. Once begun it is carried through, by whomever. */
  async deleteAgent(agentId: string): Promise<TransferCounts> {
    const { store, jobs } = this.#parts;
    const id = await jobs.begin("delete", [agentId], () => DeleteWork.begin(store, agentId));
    const { state } = await jobs.complete(id);
    const { deleted, profiles } = state as DeleteState;
    return { memories: deleted.mem, episodes: deleted.ep, profiles };
  }

  /** Long work that changes rows of this agent (null = any) at this moment. */
  underWay(agentId: string | null): JobNotice[] {
    return this.#parts.jobs.underWay(agentId);
  }

  /** The operator's words; null while there are none. */
  async operatingContext(): Promise<OperatingContext | null> {
    const state = await this.#parts.operatingContext.read();
    return state.state === "present" ? state.context : null;
  }

  /** Fills in missing vectors now. `progress` costs a count of the whole store: for somebody who watches. */
  async fillVectors(progress: Progress | null = null): Promise<BackfillOutcome> {
    const { backfill, health } = this.#parts;
    const hadGaps = this.#hasGaps;
    const outcome = await backfill.run(Number.POSITIVE_INFINITY, progress);
    if (outcome.end === "done" || outcome.end === "off") this.#hasGaps = false;
    // While nobody knows which vectors are wanted, those that were noted go on to be missing.
    else if (!this.#isClosed && health.embedderCode() !== null) this.#hasGaps = await backfill.hasGaps();
    if (!this.#hasGaps && (hadGaps || outcome.embedded > 0)) this.#whole();
    return outcome;
  }

  /** Stretches that a write leaves behind are embedded as soon as it is done. */
  fillWaitingSoon(): void {
    if (this.#isClosed || !this.#parts.config.maintenance.backfill || this.#waitingTimer !== undefined)
      return;
    this.#waitingTimer = setTimeout(() => {
      this.#waitingTimer = undefined;
      this.#parts.supervisor.run("vectors behind writes", () => this.#fillWaiting()).catch(logFailure);
    }, WAITING_DELAY_MS);
    this.#waitingTimer.unref();
  }

  async #fillWaiting(): Promise<void> {
    const { end } = await this.#parts.backfill.runWaiting();
    if (end === "busy" || end === "stopped") this.#startSoon(this.#parts.config.maintenance.retryDelayMs);
  }

  /** The work of a quiet moment: words index, missing vectors, vector index. Vectors go on by themselves. */
  async runOnce(): Promise<void> {
    if (this.#isClosed) return;
    const { supervisor, jobs } = this.#parts;
    await jobs.watch();
    if (this.#isClosed) return;
    await supervisor.run(WORDS_INDEX, () => this.#repairWords());
    await supervisor.run(MISSING_VECTORS, () => this.#fill());
    if (!this.#isClosed) await this.#parts.syncVectors();
  }

  async #repairWords(): Promise<void> {
    const { lexicalRepair, clock } = this.#parts;
    if (await lexicalRepair.run(() => clock.now(), { isStopped: () => this.#isClosed }))
      this.#self = { ...this.#self, wordsIndexRebuilt: this.#self.wordsIndexRebuilt + 1 };
  }

  async #fill(): Promise<void> {
    const { maintenance } = this.#parts.config;
    const mark = this.#parts.writeMark();
    await this.#parts
      .learnQuestions()
      .catch((error: unknown) => log("debug", `question directions not learned: ${describeError(error)}`));
    const filled = maintenance.backfill ? await this.fillVectors() : null;
    const pushed = maintenance.backfill ? await this.#parts.remote?.run() : null;
    if (this.#isClosed) return;
    if (filled?.end === "done") await this.#dropOldVectors();
    if (this.#isClosed) return;
    this.#self = {
      ...this.#self,
      runs: this.#self.runs + 1,
      lastRunAt: new Date(this.#parts.clock.now()).toISOString(),
      vectorsFilled: this.#self.vectorsFilled + (filled?.embedded ?? 0),
      lastBackfill: filled?.end ?? null,
    };
    if (filled === null || (filled.end === "off" && this.#parts.remote === null)) return;
    if (filled.embedded > 0) log("info", `${filled.embedded} missing vectors were filled in`);
    const isFilled = filled.end === "off" || (filled.end === "done" && filled.embedded === 0);
    this.#settledAt = isFilled && (pushed ?? "done") === "done" ? mark : null;
    this.#startSoon(maintenance.retryDelayMs);
  }

  /** Every record has its successor. */
  async #dropOldVectors(): Promise<void> {
    const { oldVectors } = this.#parts;
    await oldVectors.touch();
    const gone = await oldVectors.removeOutdated(() => this.#isClosed);
    for (const identity of gone)
      log("info", `the vectors of ${identity} are removed: others took their place`);
  }

  #startSoon(delayMs: number): void {
    if (this.#isClosed || !this.#parts.config.maintenance.backfill) return;
    const due = performance.now() + delayMs;
    if (this.#timer !== undefined && this.#due <= due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#parts.supervisor.run(MISSING_VECTORS, () => this.#runAgain()).catch(logFailure);
    }, delayMs);
    // A process that has nothing else to do ends; the next one goes on.
    this.#timer.unref();
  }

  /** Only when something was written since nothing was left to do: looking for gaps reads every row. */
  async #runAgain(): Promise<void> {
    if (this.#parts.lexicalRepair.isUnderWay())
      await this.#parts.supervisor.run(WORDS_INDEX, () => this.#repairWords());
    if (this.#isClosed) return;
    if (this.#settledAt === this.#parts.writeMark()) {
      await this.#parts.oldVectors.touch();
      this.#startSoon(this.#parts.config.maintenance.retryDelayMs);
    } else await this.#fill();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#waitingTimer);
    const { jobs, backfill, remote } = this.#parts;
    await Promise.all([jobs.close(), backfill.close(), remote?.close()]);
  }
}

/** A figure of a store that is damaged there is left out: the checks name the damage. */
function readable<T>(read: () => T, instead: T): T {
  try {
    return read();
  } catch (error) {
    if (!isStorageFault(error)) throw error;
    return instead;
  }
}

function logFailure(error: unknown): void {
  log("warn", `self-maintenance: ${error instanceof MemoryError ? error.message : String(error)}`);
}

export type { MaintenanceParts } from "./maintenance-parts.js";
export type { ExportRequest, FileImportRequest, HealthCheckRequest, HealthStats, SelfMaintenance };
