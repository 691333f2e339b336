// Merging one agent's records into another's, record by record. A moved record keeps its id, a copy gets a new one;
// what the target holds already stays where it is, and the target's record stands for it in relations.

import type { Memory } from "../../domain/memory.js";
import { type RecordId, type RecordKind, recordKey, recordOfKey } from "../../domain/record.js";
import { EVERYTHING } from "../../domain/scope.js";
import type { Job, JobRow } from "../../store/jobs.js";
import type { NewEmbedding, Store } from "../../store/store.js";
import { HeldEpisodes } from "./held-episodes.js";
import { FORGET_ROWS, type JobWork } from "./job-work.js";

export interface MergeState {
  readonly source: string;
  readonly target: string;
  readonly isMove: boolean;
  /** the newest records that belong to the merge: later ones stay where they were put */
  readonly last: Readonly<Record<RecordKind, number>>;
  phase: "mem" | "ep" | "relations" | "profile" | "clean";
  /** id, or record key, of the last one that the phase dealt with */
  after: number;
  readonly merged: Record<RecordKind, number>;
  readonly skipped: Record<RecordKind, number>;
  relations: number;
  profile: "copied" | "skipped" | "none";
}

const NEXT: Readonly<Record<MergeState["phase"], MergeState["phase"]>> = {
  mem: "ep",
  ep: "relations",
  relations: "profile",
  profile: "clean",
  clean: "clean",
};
/** Rows of the job that are read at once; each is a unit of its own. */
const PAGE_ROWS = 100;
export class MergeWork implements JobWork {
  readonly #store: Store;
  readonly #ids: Record<RecordKind, number[]> = { mem: [], ep: [] };
  #held: HeldEpisodes | null = null;
  /** rows whose relations come next, read in the transaction that runs */
  #page: JobRow[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  static begin(store: Store, source: string, target: string, isMove: boolean) {
    const { memories, episodes } = store.rowsOf(source);
    const state: MergeState = {
      source,
      target,
      isMove,
      last: { mem: store.transfer.lastId("mem"), ep: store.transfer.lastId("ep") },
      phase: "mem",
      after: 0,
      merged: { mem: 0, ep: 0 },
      skipped: { mem: 0, ep: 0 },
      relations: 0,
      profile: "none",
    };
    return { state, total: memories + episodes };
  }

  prepare(job: Job): void {
    const { source, target, last, phase, after } = job.state as MergeState;
    const { transfer, jobs } = this.#store;
    for (const kind of ["mem", "ep"] as const) {
      const from = phase === kind ? after : 0;
      this.#ids[kind] = transfer.idsUntil(kind, source, last[kind]).filter((id) => id > from);
      this.#ids[kind].reverse();
    }
    const taken = jobs.others(job.id);
    const held = transfer.summariesUntil(target, last.ep);
    this.#held = new HeldEpisodes(held.filter(({ id }) => !taken.has(recordKey("ep", id))));
  }

  step(job: Job, hasTime: () => boolean): "more" | "done" {
    const state = job.state as MergeState;
    this.#page = [];
    do {
      if (this.#unit(job, state)) continue;
      if (state.phase === "clean") return "done";
      state.phase = NEXT[state.phase];
      state.after = -1;
    } while (hasTime());
    return "more";
  }

  /** False when the phase has nothing left. */
  #unit(job: Job, state: MergeState): boolean {
    switch (state.phase) {
      case "mem":
      case "ep":
        return this.#takeNext(job, state, state.phase);
      case "relations":
        return this.#connectNext(job.id, state);
      case "profile":
        state.profile = this.#takeProfile(state);
        return false;
      case "clean":
        return this.#store.jobs.removeRows(job.id, FORGET_ROWS) > 0;
    }
  }

  #takeNext(job: Job, state: MergeState, kind: RecordKind): boolean {
    const id = this.#ids[kind].pop();
    if (id === undefined) return false;
    state.after = id;
    job.done++;
    // Somebody may have deleted it meanwhile.
    if (this.#store.transfer.agentOf(kind, id) !== state.source) return true;
    const holder = this.#holder({ kind, id }, state.target);
    const other =
      holder ?? (state.isMove ? this.#move({ kind, id }, state) : this.#copy({ kind, id }, state));
    if (holder === null && other !== null) state.merged[kind]++;
    else state.skipped[kind]++;
    if (other !== null) this.#store.jobs.addRow(job.id, recordKey(kind, id), recordKey(kind, other));
    return true;
  }

  #holder({ kind, id }: RecordId, target: string): number | null {
    if (kind === "mem") return this.#store.transfer.holderFor(id, target);
    const [episode] = this.#store.episodes.get([id], EVERYTHING);
    return episode === undefined ? null : (this.#held?.take(episode) ?? null);
  }

  #move(record: RecordId, { target }: MergeState): number | null {
    return this.#store.moveRecord(record, target) ? record.id : null;
  }

  #copy({ kind, id }: RecordId, { target }: MergeState): number | null {
    const store = this.#store;
    const key = recordKey(kind, id);
    const belongings = store.belongings.of([key], "newest").get(key);
    const moved = { id: 0, above: 0, use: belongings?.use ?? null };
    const embedding = this.#embedding(belongings?.vectors ?? null);
    const [row] =
      kind === "mem" ? store.memories.get([id], EVERYTHING) : store.episodes.get([id], EVERYTHING);
    if (row === undefined) return null;
    const copy = { ...row, agentId: target };
    if ("content" in copy) return store.addMemory(copy as Memory, embedding, moved);
    return store.addEpisode(copy, embedding, moved);
  }

  #embedding(vectors: Pick<NewEmbedding, "identity" | "blocks"> | null): NewEmbedding | null {
    if (vectors === null) return null;
    return { ...vectors, dimension: this.#store.embeddings.dimensionOf(vectors.identity) };
  }

  /** Relations and shared use between records that the target has both of. */
  #connectNext(job: number, state: MergeState): boolean {
    if (this.#page.length === 0)
      this.#page = this.#store.jobs.rowsAfter(job, state.after, PAGE_ROWS).reverse();
    const row = this.#page.pop();
    if (row === undefined) return false;
    state.after = row.key;
    const { relations, uses, transfer } = this.#store;
    const { out, in: into } = relations.edgesOf(row.key);
    for (const edge of [...out, ...into.filter(({ from }) => this.#isForeign(job, from))]) {
      const { from, to, type, createdAt } = edge;
      const { ends, isKept } = this.#fate(job, from, to, state);
      if (!isKept) relations.remove(from, to, type);
      if (ends === null) continue;
      if (ends.isInPlace || relations.add(ends.a, ends.b, type, createdAt)) state.relations++;
    }
    for (const { low, high, weight, moment } of uses.pairsOf(row.key)) {
      // A pair of two records of the merge comes up twice; once is enough.
      if (high === row.key && !this.#isForeign(job, low)) continue;
      const { ends, isKept } = this.#fate(job, low, high, state);
      if (!isKept) transfer.resetCoUse(low, high, null);
      if (ends !== null && !ends.isInPlace) transfer.putCoUse(ends.a, ends.b, weight, moment);
    }
    return true;
  }

  /** Whether a record is no part of the merge: its own turn will not come. */
  #isForeign(job: number, key: number): boolean {
    return this.#store.jobs.other(job, key) === null;
  }

  /** What becomes of an edge: between which records it is to be, and whether it stays where it is too. */
  #fate(job: number, from: number, to: number, state: MergeState) {
    const [a, b] = [this.#store.jobs.other(job, from), this.#store.jobs.other(job, to)];
    const isInPlace = a === from && b === to;
    const isMapped = a !== null && b !== null && a !== b && this.#exists(a) && this.#exists(b);
    // An edge between two agents would be seen by neither.
    const isSplit = state.isMove && !isInPlace && this.#agentOf(from) !== this.#agentOf(to);
    return { ends: isMapped ? { a, b, isInPlace } : null, isKept: !isSplit };
  }

  #exists(key: number): boolean {
    return this.#agentOf(key) !== null;
  }

  #agentOf(key: number): string | null {
    const { kind, id } = recordOfKey(key);
    return this.#store.transfer.agentOf(kind, id);
  }

  #takeProfile({ source, target, isMove }: MergeState): MergeState["profile"] {
    const { transfer } = this.#store;
    const given = transfer.profile(source, "");
    if (given === null) return "none";
    if (transfer.profile(target, "") !== null) return "skipped";
    transfer.putProfile({ ...given, agentId: target });
    if (isMove) transfer.removeProfile(source, "");
    return "copied";
  }
}
