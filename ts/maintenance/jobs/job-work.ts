// What a long operation is to whoever runs it.

import type { Job } from "../../store/jobs.js";

export interface JobWork {
  /** Reads what the steps need, without a lock. Called once, before the first step of a run. */
  prepare(job: Job): void;
  /**
   * Units of work until the time is up, in one transaction that also keeps `job.state` and `job.done`. A run that
   * was killed goes on from there with a new object, so nothing that a later step needs may be kept elsewhere.
   */
  step(job: Job, hasTime: () => boolean): "more" | "done";
}

/** Rows of bookkeeping that are forgotten in one unit. */
export const FORGET_ROWS = 200;
