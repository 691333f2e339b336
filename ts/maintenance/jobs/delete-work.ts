// Deleting everything of an agent, record by record. What comes after the beginning stays.

import type { RecordKind } from "../../domain/record.js";
import type { Job } from "../../store/jobs.js";
import type { Store } from "../../store/store.js";
import type { JobWork } from "./job-work.js";

export interface DeleteState {
  readonly agent: string;
  /** the newest records that go */
  readonly last: Readonly<Record<RecordKind, number>>;
  readonly profiles: number;
  readonly deleted: Record<RecordKind, number>;
}

export class DeleteWork implements JobWork {
  readonly #store: Store;
  #left: { readonly kind: RecordKind; readonly id: number }[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Profiles are few and go with the beginning, so that one written later stays. */
  static begin(store: Store, agent: string): { state: DeleteState; total: number } {
    const { memories, episodes } = store.rowsOf(agent);
    const state: DeleteState = {
      agent,
      last: { mem: store.transfer.lastId("mem"), ep: store.transfer.lastId("ep") },
      profiles: store.profiles.delete(agent),
      deleted: { mem: 0, ep: 0 },
    };
    return { state, total: memories + episodes };
  }

  prepare(job: Job): void {
    const { agent, last } = job.state as DeleteState;
    for (const kind of ["ep", "mem"] as const)
      for (const id of this.#store.transfer.idsUntil(kind, agent, last[kind]).reverse())
        this.#left.push({ kind, id });
  }

  step(job: Job, hasTime: () => boolean): "more" | "done" {
    const { agent, deleted } = job.state as DeleteState;
    do {
      const next = this.#left.pop();
      if (next === undefined) return "done";
      if (this.#store.transfer.agentOf(next.kind, next.id) !== agent) continue;
      this.#store.deleteRecords([next]);
      deleted[next.kind]++;
      job.done++;
    } while (hasTime());
    return "more";
  }
}
