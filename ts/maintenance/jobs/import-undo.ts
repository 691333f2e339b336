// The end of an import: after a failure what it put in is taken back, after success its bookkeeping is forgotten.

import { recordOfKey } from "../../domain/record.js";
import type { RelationType } from "../../domain/relation.js";
import type { Job } from "../../store/jobs.js";
import type { Store } from "../../store/store.js";
import type { MovedProfile } from "../../store/transfer.js";
import { FORGET_ROWS, type JobWork } from "./job-work.js";

export interface ImportState {
  /** `rows`: records come in; `clean`: all are there */
  phase: "rows" | "clean";
}

/** What an import changed beside the records it put in. */
export type UndoEntry =
  | { readonly relation: { readonly from: number; readonly to: number; readonly type: RelationType } }
  | { readonly profile: { readonly put: MovedProfile; readonly before: MovedProfile | null } }
  | {
      readonly coUse: { readonly low: number; readonly high: number; readonly moment: number } & CoUseBefore;
    };

interface CoUseBefore {
  readonly before: { readonly weight: number; readonly moment: number } | null;
}

export class ImportUndo implements JobWork {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  prepare(): void {}

  step(job: Job, hasTime: () => boolean): "more" | "done" {
    const isKept = (job.state as ImportState).phase === "clean";
    do {
      const isMore = isKept ? this.#forget(job.id) : this.#takeBack(job.id);
      if (!isMore) return "done";
    } while (hasTime());
    return "more";
  }

  #forget(job: number): boolean {
    const { jobs } = this.#store;
    return jobs.removeRows(job, FORGET_ROWS) + jobs.removeUndo(job, FORGET_ROWS) > 0;
  }

  #takeBack(job: number): boolean {
    const entry = this.#store.jobs.takeUndo(job) as UndoEntry | null;
    if (entry !== null) {
      this.#reverse(entry);
      return true;
    }
    const [row] = this.#store.jobs.rowsAfter(job, -1, 1);
    if (row === undefined) return false;
    this.#store.deleteRecords([recordOfKey(row.key)]);
    this.#store.jobs.removeRow(job, row.key);
    return true;
  }

  /** What was changed again since is somebody's own, and stays. */
  #reverse(entry: UndoEntry): void {
    const { relations, transfer } = this.#store;
    if ("relation" in entry) {
      relations.remove(entry.relation.from, entry.relation.to, entry.relation.type);
    } else if ("profile" in entry) {
      const { put, before } = entry.profile;
      const now = transfer.profile(put.agentId, put.userId);
      if (now?.content !== put.content || now.updatedAt !== put.updatedAt) return;
      if (before === null) transfer.removeProfile(put.agentId, put.userId);
      else transfer.putProfile(before);
    } else {
      const { low, high, moment, before } = entry.coUse;
      if (transfer.coUse(low, high)?.moment === moment) transfer.resetCoUse(low, high, before);
    }
  }
}
