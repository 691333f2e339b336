// Taking the records of a file in: surveyed first, then written in short steps so that other sessions are not
// kept waiting. What fails half-way is taken back, by another process where this one is killed; a second run adds
// nothing.

import type { Config } from "../../config.js";
import { depthDefect, MAX_JSON_DEPTH } from "../../domain/json.js";
import { type RecordId, recordKey } from "../../domain/record.js";
import { parseInstant, storageStamp } from "../../domain/time.js";
import { type EmbedderIdentity, identityKey } from "../../embedding/embedder.js";
import { describeError, invalidArgument, isStorageFault, MemoryError } from "../../errors.js";
import { log } from "../../log.js";
import { nextTurn } from "../../next-turn.js";
import type { Job } from "../../store/jobs.js";
import type { NewEmbedding, Store } from "../../store/store.js";
import type { ImportState } from "../jobs/import-undo.js";
import type { JobRunner } from "../jobs/jobs.js";
import type { Progress } from "../progress.js";
import { type ImportOutcome, ImportReport } from "./import-report.js";
import {
  type Extras,
  type FileCoUse,
  type FileRelation,
  type FileVectors,
  type ReadOptions,
  readEpisode,
  readMemory,
  readProfile,
} from "./read-record.js";
import type { RecordSource, SourceRecord } from "./source.js";
import { type LabelParts, type Survey, surveySource, trustedLabels } from "./survey.js";
import { ImportTarget } from "./target.js";

export interface ImportRequest {
  readonly source: RecordSource;
  /** "" = every record's own agent */
  readonly targetAgent: string;
  readonly dryRun: boolean;
  /** an export of a version that is not known is taken too */
  readonly anyVersion?: boolean | undefined;
  readonly progress?: Progress | undefined;
  /** throws when the caller may not take rows of one of these agents */
  readonly checkAgents?: ((agents: ReadonlySet<string>) => void) | undefined;
}

export interface ImportParts {
  readonly config: Config;
  readonly clock: { now(): number };
  readonly embedder: LabelParts;
  readonly store: Store;
  readonly jobs: JobRunner;
}

const BATCH_RECORDS = 200;

/** Throws `damaged_file`, and then the store is as it was. */
export async function importRecords(request: ImportRequest, parts: ImportParts): Promise<ImportOutcome> {
  const survey = await surveySource(request.source, request.anyVersion);
  request.checkAgents?.(survey.agents);
  const trusted = await trustedLabels(survey.samples, ownLabels(parts.embedder), parts.embedder);
  if (request.dryRun) return new ImportRun(request, parts, survey, trusted, null).finish();
  const agents = request.targetAgent === "" ? [...survey.agents] : [request.targetAgent];
  const { memory, episode, profile } = survey.counts;
  const state: ImportState = { phase: "rows" };
  const job = await parts.jobs.begin("import", agents, () => ({ state, total: memory + episode + profile }));
  try {
    return await new ImportRun(request, parts, survey, trusted, job).finish();
  } catch (error) {
    await takeBack(parts.jobs, job);
    if (error instanceof MemoryError && error.code === "damaged_file") throw error;
    log("error", `import: ${describeError(error)}`);
    const code = isStorageFault(error) ? error.code : "storage_unavailable";
    throw new MemoryError(
      code,
      "import aborted and rolled back: the store could not be written; the log has the details",
      { cause: error },
    );
  }
}

/** Where the store cannot be written even now, whoever looks after it later takes the rows back. */
async function takeBack(jobs: JobRunner, job: number): Promise<void> {
  try {
    await jobs.carryOn(job);
  } catch (error) {
    log("error", `import not rolled back yet: ${describeError(error)}`);
  }
}

function ownLabels(embedder: LabelParts): string[] {
  const identity = embedder.identity();
  return identity === null ? [] : [identityKey(identity)];
}

class ImportRun {
  readonly #request: ImportRequest;
  readonly #parts: ImportParts;
  readonly #survey: Survey;
  readonly #trusted: ReadonlySet<string>;
  readonly #identity: EmbedderIdentity | null;
  readonly #report: ImportReport;
  readonly #target: ImportTarget;
  readonly #options: ReadOptions;
  /** null for a dry run */
  readonly #job: number | null;
  /** key in the file -> key in the store */
  readonly #keys = new Map<number, number>();
  readonly #relations: FileRelation[];
  readonly #coUses: FileCoUse[] = [];

  constructor(
    request: ImportRequest,
    parts: ImportParts,
    survey: Survey,
    trusted: ReadonlySet<string>,
    job: number | null,
  ) {
    this.#job = job;
    this.#request = request;
    this.#parts = parts;
    this.#survey = survey;
    this.#trusted = trusted;
    this.#identity = parts.embedder.identity();
    this.#report = new ImportReport(survey, request);
    this.#target = new ImportTarget(parts.store, job, survey.lastIds);
    this.#relations = [...survey.relations];
    this.#options = { config: parts.config, now: parts.clock.now(), targetAgent: request.targetAgent };
  }

  async finish(): Promise<ImportOutcome> {
    const { memory, episode, profile } = this.#survey.counts;
    const total = memory + episode + profile;
    const progress = this.#request.progress ?? (() => {});
    let done = 0;
    for await (const batch of batches(this.#request.source)) {
      await this.#inSteps(batch, (record) => {
        this.#take(record);
        if (isRow(record.record["_type"])) done++;
        return done;
      });
      progress(Math.min(done, total), total);
      await nextTurn();
    }
    await this.#inSteps(this.#relations, (relation) => this.#relate(relation));
    await this.#inSteps(this.#coUses, (coUse) => this.#putCoUse(coUse));
    await this.#conclude();
    progress(total, total);
    return this.#report.outcome();
  }

  /**
   * `work` for each item, as many a transaction as there is time for; a number that it gives is the number of
   * rows done.
   */
  async #inSteps<T>(items: readonly T[], work: (item: T) => unknown): Promise<void> {
    let at = 0;
    const step = (job: Job | null, hasTime: () => boolean): "more" | "done" => {
      while (at < items.length) {
        const done = work(items[at++] as T);
        if (job !== null && typeof done === "number") job.done = done;
        if (!hasTime()) break;
      }
      return at < items.length ? "more" : "done";
    };
    if (this.#job === null) step(null, () => true);
    else if (items.length > 0) await this.#parts.jobs.steps(this.#job, step);
  }

  /** From here on nothing is taken back. */
  async #conclude(): Promise<void> {
    if (this.#job === null) return;
    const { jobs } = this.#parts;
    await jobs.steps(this.#job, (job) => {
      job.state = { phase: "clean" } satisfies ImportState;
      return "done";
    });
    try {
      await jobs.carryOn(this.#job);
    } catch (error) {
      // The rows are in; what was noted of them is forgotten later.
      log("debug", `import: ${describeError(error)}`);
    }
  }

  #take({ line, record, fault }: SourceRecord): void {
    try {
      const nesting = fault ?? depthDefect(record, MAX_JSON_DEPTH + 1);
      if (nesting !== null) throw invalidArgument("the record", nesting);
      if (record["_type"] === "memory") this.#takeMemory(record, line);
      else if (record["_type"] === "episode") this.#takeEpisode(record, line);
      else if (record["_type"] === "profile") this.#takeProfile(record, line);
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code !== "invalid_argument") throw error;
      this.#report.refuse(this.#place(line), error.message);
    }
  }

  #place(line: number): string {
    return this.#request.source.unit === "line" ? `Line ${line}` : `Row ${line}`;
  }

  #takeMemory(record: SourceRecord["record"], line: number): void {
    const { memory, ...extras } = readMemory(record, this.#options);
    const held = this.#target.memoryHolder(memory);
    const isNew = this.#takeRecord({ kind: "mem", id: memory.id }, held, extras, line, (embedding) =>
      this.#target.addMemory(memory, embedding, extras.use),
    );
    if (!isNew) this.#report.skippedMemories++;
    else this.#report.importedMemories++;
    if (isNew && this.#isInFuture(memory.timestamp)) this.#report.futureTimestamps++;
  }

  #takeEpisode(record: SourceRecord["record"], line: number): void {
    const { episode, ...extras } = readEpisode(record, this.#options);
    const held = this.#target.episodeHolder(episode);
    const isNew = this.#takeRecord({ kind: "ep", id: episode.id }, held, extras, line, (embedding) =>
      this.#target.addEpisode(episode, embedding, extras.use),
    );
    if (!isNew) this.#report.skippedEpisodes++;
    else this.#report.importedEpisodes++;
    if (isNew && this.#isInFuture(episode.startTime)) this.#report.futureEpisodeTimestamps++;
  }

  /** Adds a record that nothing in the store holds. Whether it was added; its relations count in either case. */
  #takeRecord(
    { kind, id }: RecordId,
    held: number | null,
    extras: Extras,
    line: number,
    add: (embedding: NewEmbedding | null) => number,
  ): boolean {
    this.#relations.push(...extras.relations);
    this.#coUses.push(...extras.coUses);
    const ours = held ?? add(this.#embedding(extras.vectors, extras.badVector, line));
    if (id > 0) this.#keys.set(recordKey(kind, id), recordKey(kind, ours));
    return held === null;
  }

  #isInFuture(timestamp: string | null): boolean {
    const instant = parseInstant(timestamp);
    return instant !== null && instant - this.#options.now > this.#parts.config.limits.futureSkewMs;
  }

  #takeProfile(record: SourceRecord["record"], line: number): void {
    const profile = readProfile(record, this.#options);
    const taken = this.#target.putProfile(profile);
    if (taken === "second")
      this.#report.refuse(this.#place(line), "a second profile of the same agent and user");
    else if (taken === "put") this.#report.updatedProfiles++;
    else this.#report.skippedProfiles++;
  }

  #embedding(vectors: FileVectors | null, bad: boolean, line: number): NewEmbedding | null {
    if (bad) this.#report.note(this.#place(line), "its vector cannot be read; the row is stored without one");
    if (vectors === null) return null;
    const dimension = vectors.blocks[0]?.vector.length ?? 0;
    const fits = vectors.blocks.every(({ vector }) => vector.length === dimension);
    if (
      !fits ||
      this.#identity === null ||
      dimension !== this.#identity.dimension ||
      !this.#trusted.has(vectors.label)
    ) {
      this.#report.droppedVectors++;
      return null;
    }
    this.#report.keptVectors++;
    return { identity: identityKey(this.#identity), dimension, blocks: vectors.blocks };
  }

  /** Once every record has its key. */
  #relate({ from, to, type, createdAt }: FileRelation): void {
    const [ours, theirs] = [this.#keys.get(from), this.#keys.get(to)];
    const at = stampOf(createdAt) ?? storageStamp(this.#options.now);
    if (ours === undefined || theirs === undefined || ours === theirs) this.#report.danglingRelations++;
    else if (this.#target.addRelation(ours, theirs, type, at)) this.#report.relations++;
  }

  #putCoUse({ low, high, weight, moment }: FileCoUse): void {
    const [ours, theirs] = [this.#keys.get(low), this.#keys.get(high)];
    if (ours !== undefined && theirs !== undefined && ours !== theirs)
      this.#target.putCoUse(ours, theirs, weight, moment);
  }
}

/** The storage stamp of a moment in any spelling. */
function stampOf(text: string): string | null {
  const instant = parseInstant(text);
  return instant === null ? null : storageStamp(instant);
}

function isRow(type: unknown): boolean {
  return type === "memory" || type === "episode" || type === "profile";
}

async function* batches(source: RecordSource): AsyncGenerator<SourceRecord[]> {
  let batch: SourceRecord[] = [];
  for await (const record of source.records()) {
    batch.push(record);
    if (batch.length < BATCH_RECORDS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
