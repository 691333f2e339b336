// The store as an import sees it: who holds a record already, and writes that are noted so that they can be taken
// back. A dry run answers the same questions and writes nothing.

import type { Episode, Memory } from "../../domain/memory.js";
import { recordKey } from "../../domain/record.js";
import type { RelationType } from "../../domain/relation.js";
import { parseInstant } from "../../domain/time.js";
import type { MovedUse } from "../../store/belongings.js";
import type { NewEmbedding, Store } from "../../store/store.js";
import type { MovedProfile } from "../../store/transfer.js";
import type { UndoEntry } from "../jobs/import-undo.js";

export class ImportTarget {
  readonly #store: Store;
  /** under which everything is noted; null for a dry run */
  readonly #job: number | null;
  /** largest ids that are still to come: new ids must not take them */
  readonly #lastIds: { readonly mem: number; readonly ep: number };
  /** what this run wrote, or would have written, by what makes it one of a kind */
  readonly #planned = new Map<string, number>();
  /** episodes that the store held before this run, by bucket and summary; each stands for one in the file */
  readonly #summaries = new Map<string, Map<string, number[]>>();
  readonly #profiles = new Set<string>();
  /** keys of the records that this run put in: what hangs on them goes with them */
  readonly #added = new Set<number>();
  #nextPlanned = -1;

  constructor(store: Store, job: number | null, lastIds = { mem: 0, ep: 0 }) {
    this.#store = store;
    this.#job = job;
    this.#lastIds = lastIds;
  }

  memoryHolder(memory: Memory): number | null {
    const byId = memory.msgId === "" ? null : this.#store.transfer.holderOfMsgId(memory, memory.msgId);
    const held = byId ?? this.#store.memories.findHolder(memory, memory.content);
    if (held !== null || this.#job !== null) return held;
    const planned = keysOf(memory).map((key) => this.#planned.get(key));
    return planned.find((id) => id !== undefined) ?? null;
  }

  addMemory(memory: Memory, embedding: NewEmbedding | null, use: MovedUse | null): number {
    if (this.#job === null) {
      const id = this.#nextPlanned--;
      for (const key of keysOf(memory)) this.#planned.set(key, id);
      return id;
    }
    const moved = { id: memory.id, above: this.#lastIds.mem, use };
    const id = this.#store.addMemory(memory, embedding, moved);
    if (id === null) throw new Error("the unique indexes refused a row that the probes did not find");
    this.#note(this.#job, recordKey("mem", id));
    return id;
  }

  /** Sessions may end alike, so a summary that the file holds twice is two episodes. */
  episodeHolder(episode: Episode): number | null {
    const bucket = JSON.stringify([episode.agentId, episode.projectId, episode.channel]);
    let held = this.#summaries.get(bucket);
    if (held === undefined) {
      held = new Map();
      for (const { id, summary } of this.#store.transfer.summaries(episode))
        held.set(summary, [...(held.get(summary) ?? []), id]);
      this.#summaries.set(bucket, held);
    }
    return held.get(episode.summary)?.shift() ?? null;
  }

  addEpisode(episode: Episode, embedding: NewEmbedding | null, use: MovedUse | null): number {
    if (this.#job === null) return this.#nextPlanned--;
    // The bucket's summaries must be read before its first new row is written.
    const moved = { id: episode.id, above: this.#lastIds.ep, use };
    const id = this.#store.addEpisode(episode, embedding, moved);
    this.#note(this.#job, recordKey("ep", id));
    return id;
  }

  #note(job: number, key: number): void {
    this.#store.jobs.addRow(job, key, null);
    this.#added.add(key);
  }

  /** The newer of two profiles wins; equal ones stay. */
  putProfile(profile: MovedProfile): "put" | "kept" | "second" {
    const key = JSON.stringify([profile.agentId, profile.userId]);
    if (this.#profiles.has(key)) return "second";
    this.#profiles.add(key);
    const stored = this.#store.transfer.profile(profile.agentId, profile.userId);
    if (stored !== null && !isNewer(profile, stored)) return "kept";
    if (this.#job === null) return "put";
    this.#store.transfer.putProfile(profile);
    this.#noteChange(this.#job, { profile: { put: profile, before: stored } });
    return "put";
  }

  addRelation(from: number, to: number, type: RelationType, createdAt: string): boolean {
    const { relations } = this.#store;
    if (this.#job === null) return !relations.has(from, to, type);
    const isAdded = relations.add(from, to, type, createdAt);
    if (isAdded && this.#areHeld(from, to)) this.#noteChange(this.#job, { relation: { from, to, type } });
    return isAdded;
  }

  putCoUse(low: number, high: number, weight: number, moment: number): void {
    if (this.#job === null) return;
    const { transfer } = this.#store;
    const before = transfer.coUse(low, high);
    transfer.putCoUse(low, high, weight, moment);
    const isChanged = before === null || moment > before.moment;
    if (isChanged && this.#areHeld(low, high))
      this.#noteChange(this.#job, { coUse: { low, high, moment, before } });
  }

  /** Whether both were in the store before this run. */
  #areHeld(a: number, b: number): boolean {
    return !this.#added.has(a) && !this.#added.has(b);
  }

  #noteChange(job: number, entry: UndoEntry): void {
    this.#store.jobs.addUndo(job, entry);
  }
}

function keysOf({ agentId, projectId, channel, msgId, content }: Memory): string[] {
  const byContent = JSON.stringify(["content", agentId, projectId, channel, content]);
  return msgId === "" ? [byContent] : [byContent, JSON.stringify(["id", agentId, projectId, msgId])];
}

function isNewer(given: MovedProfile, stored: MovedProfile): boolean {
  if (given.content === stored.content && given.updatedAt === stored.updatedAt) return false;
  const [ours, theirs] = [parseInstant(stored.updatedAt), parseInstant(given.updatedAt)];
  return theirs !== null && (ours === null || theirs >= ours);
}
