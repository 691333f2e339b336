// Runs long operations in short steps. Each is a row of the table `jobs`; whoever runs it prolongs its lease with
// every step. When a process is killed or stuck, another takes the job over once the lease is over.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { storageStamp } from "../../domain/time.js";
import { describeError, MemoryError } from "../../errors.js";
import { log } from "../../log.js";
import type { Job, JobKind, NewJob } from "../../store/jobs.js";
import type { Store } from "../../store/store.js";
import type { Progress } from "../progress.js";
import { DeleteWork } from "./delete-work.js";
import { ImportUndo } from "./import-undo.js";
import type { JobWork } from "./job-work.js";
import { MergeWork } from "./merge-work.js";

/** How long a job without a sign of life is left to its owner, ms. */
const LEASE_MS = 15_000;
/** How long a job waits for others that change rows of the same agents, ms. */
const TURN_MS = 30_000;
const POLL_MS = 100;
/** A step waits longer for the lock than a call may: the work is not lost, only late. */
const STEP_WAIT_MS = 120_000;
const MOST_LATE_MS = 600_000;

const WORKS: Readonly<Record<JobKind, new (store: Store) => JobWork>> = {
  merge: MergeWork,
  import: ImportUndo,
  delete: DeleteWork,
};

/** A job as check_health and readers are told of it. */
export interface JobNotice {
  readonly kind: JobKind;
  /** 0 to 100 */
  readonly percent: number;
  /** nobody is at work on it; the next that looks takes it up */
  readonly isIdle: boolean;
  readonly startedAt: string;
}

export class JobRunner {
  readonly #store: Store;
  readonly #clock: { now(): number };
  readonly #owner = randomUUID();
  /** jobs that this process is at work on, steps and what is between them */
  readonly #live = new Set<number>();
  readonly #running = new Set<Promise<unknown>>();
  /** jobs that failed here, how often, and until when they are left alone */
  readonly #failed = new Map<number, { times: number; until: number }>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(store: Store, clock: { now(): number }) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Begins a job when no other changes rows of its agents. `first` runs in the transaction that makes the job.
   * Waits for others up to 30 seconds, then rejects with `storage_busy`.
   */
  async begin(
    kind: JobKind,
    agents: readonly string[],
    first: () => Pick<NewJob, "state" | "total">,
  ): Promise<number> {
    const { database, jobs } = this.#store;
    const deadline = performance.now() + TURN_MS;
    for (;;) {
      const begun = await database.write(
        () =>
          jobs.of(agents)[0] ?? jobs.add({ kind, agents, ...first(), ...this.#lease(), ...this.#start() }),
      );
      if (typeof begun === "number") {
        this.#live.add(begun);
        return begun;
      }
      if (!this.#live.has(begun.id) && this.#isOver(begun)) await this.carryOn(begun.id);
      else if (performance.now() < deadline) await sleep(POLL_MS);
      else throw busy(begun);
    }
  }

  #lease(): Pick<Job, "owner" | "leaseUntil"> {
    return { owner: this.#owner, leaseUntil: this.#clock.now() + LEASE_MS };
  }

  #start(): Pick<Job, "startedAt"> {
    return { startedAt: storageStamp(this.#clock.now()) };
  }

  /** Steps of a job of this process that are not its whole work. Rejects when another process has taken it over. */
  async steps(id: number, step: JobWork["step"], isLast = false): Promise<Job | null> {
    if (this.#isClosed) throw new MemoryError("storage_unavailable", unfinished("the server was closed"));
    const running = this.#steps(id, step, isLast);
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  async #steps(id: number, step: JobWork["step"], isLast: boolean): Promise<Job | null> {
    const { database, jobs } = this.#store;
    let last: Job | null = null;
    let isDone = false;
    await database.writeInSteps(
      (hasTime) => {
        const job = this.#mine(id);
        isDone = step(job, hasTime) === "done";
        if (isDone && isLast) jobs.remove(id);
        else jobs.save(job, this.#lease().leaseUntil);
        last = job;
        return isDone ? "done" : "more";
      },
      { isStopped: () => this.#isClosed, waitMs: STEP_WAIT_MS },
    );
    if (!isDone) throw new MemoryError("storage_unavailable", unfinished("the server was closed"));
    return last;
  }

  #mine(id: number): Job {
    const job = this.#store.jobs.get(id);
    if (job === null || job.owner !== this.#owner) throw takenOver();
    return job;
  }

  /** Does the whole of a job that this process began. Rejects when another process has taken it over. */
  async complete(id: number, progress?: Progress): Promise<Job> {
    const job = await this.carryOn(id, progress);
    if (job === null) throw takenOver();
    return job;
  }

  /** Does what is left of a job, and forgets it. Gives its last state; null when it is gone or another's. */
  async carryOn(id: number, progress: Progress = () => {}): Promise<Job | null> {
    this.#live.add(id);
    try {
      const job = await this.#run(id, progress);
      this.#failed.delete(id);
      return job;
    } catch (error) {
      this.#noteFailure(id);
      throw error;
    } finally {
      this.#live.delete(id);
    }
  }

  async #run(id: number, progress: Progress): Promise<Job | null> {
    const { database, jobs } = this.#store;
    const job = await database.write(() => {
      const found = jobs.get(id);
      if (found === null || (found.owner !== this.#owner && !this.#isOver(found))) return null;
      const { owner, leaseUntil } = this.#lease();
      jobs.setOwner(id, owner, leaseUntil);
      return found;
    });
    if (job === null) return null;
    const work = new WORKS[job.kind](this.#store);
    work.prepare(job);
    const step: JobWork["step"] = (now, hasTime) => {
      const outcome = work.step(now, hasTime);
      progress(Math.min(now.done, now.total), now.total);
      return outcome;
    };
    return this.steps(id, step, true);
  }

  #noteFailure(id: number): void {
    const times = (this.#failed.get(id)?.times ?? 0) + 1;
    const lateMs = Math.min(LEASE_MS * 2 ** times, MOST_LATE_MS);
    this.#failed.set(id, { times, until: performance.now() + lateMs });
  }

  /** A lease far ahead was written by a clock that was wrong. */
  #isOver({ leaseUntil }: Job): boolean {
    const left = leaseUntil - this.#clock.now();
    return left <= 0 || left > 2 * LEASE_MS;
  }

  /** Finishes or undoes what killed processes left behind. Never rejects. */
  async resume(): Promise<void> {
    if (this.#store.database.readOnly) return;
    try {
      for (const job of this.#store.jobs.all()) {
        if (this.#isClosed || this.#live.has(job.id) || !this.#isOver(job)) continue;
        if ((this.#failed.get(job.id)?.until ?? 0) > performance.now()) continue;
        log("info", `unfinished work is taken up: ${job.kind}`);
        await this.carryOn(job.id);
      }
    } catch (error) {
      log("warn", `unfinished work waits: ${describeError(error)}`);
    }
  }

  /** Looks now and from time to time for what others left behind. */
  async watch(): Promise<void> {
    if (this.#timer === undefined && !this.#isClosed) {
      this.#timer = setInterval(() => this.resume(), LEASE_MS);
      this.#timer.unref();
    }
    await this.resume();
  }

  /** Unfinished jobs that change rows of this agent, or of any for null. */
  underWay(agentId: string | null): JobNotice[] {
    const { jobs } = this.#store;
    return (agentId === null ? jobs.all() : jobs.of([agentId])).map((job) => ({
      kind: job.kind,
      percent: job.total === 0 ? 100 : Math.floor((100 * Math.min(job.done, job.total)) / job.total),
      isIdle: this.#isOver(job),
      startedAt: job.startedAt,
    }));
  }

  /** Ends after the step that runs; what is left is taken up at the next start, or by another server at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.allSettled(this.#running);
    const { database, jobs } = this.#store;
    if (database.readOnly) return;
    try {
      for (const { id, owner } of jobs.all())
        if (owner === this.#owner) await database.write(() => jobs.setOwner(id, owner, 0));
    } catch (error) {
      log("debug", `a lease runs out by itself: ${describeError(error)}`);
    }
  }
}

function takenOver(): MemoryError {
  return new MemoryError("storage_busy", unfinished("another server has taken the work over"));
}

function unfinished(why: string): string {
  return `${why}: what was begun goes on or is undone by itself; check_health lists it until then`;
}

function busy({ kind, done, total }: Job): MemoryError {
  const share = total === 0 ? "" : `, ${Math.floor((100 * done) / total)} %`;
  return new MemoryError(
    "storage_busy",
    `other long work on this agent's rows is under way (${kind}${share}); nothing was done: call again when it is finished`,
  );
}
