// The store as an import sees it: who holds a record already, and writes that can be taken back. A dry run
// answers the same questions and writes nothing.

import type { Episode, Memory } from "../../domain/memory.js";
import type { RecordId } from "../../domain/record.js";
import type { RelationType } from "../../domain/relation.js";
import type { WriteScope } from "../../domain/scope.js";
import { parseInstant } from "../../domain/time.js";
import type { MovedUse } from "../../store/belongings.js";
import type { Moved, NewEmbedding } from "../../store/store.js";
import type { MovedProfile } from "../../store/transfer.js";

export interface TargetStore {
  /** the memory that holds the msg_id in this project, or the text in this bucket */
  holderOfMsgId(scope: WriteScope, msgId: string): number | null;
  holderOfContent(scope: WriteScope, content: string): number | null;
  summaries(scope: WriteScope): readonly { readonly id: number; readonly summary: string }[];
  profile(agentId: string, userId: string): MovedProfile | null;
  /** under its own id where that is free, else above `above`; null when a unique index refuses it */
  addMemory(memory: Memory, embedding: NewEmbedding | null, moved: Moved): number | null;
  addEpisode(episode: Episode, embedding: NewEmbedding | null, moved: Moved): number;
  putProfile(profile: MovedProfile): void;
  removeProfile(agentId: string, userId: string): void;
  hasRelation(from: number, to: number, type: RelationType): boolean;
  addRelation(from: number, to: number, type: RelationType, createdAt: string): boolean;
  putCoUse(low: number, high: number, weight: number, moment: number): void;
  deleteRecords(records: readonly RecordId[]): void;
  transaction<T>(work: () => T): T;
}

export class ImportTarget {
  readonly #store: TargetStore;
  readonly #dryRun: boolean;
  /** largest ids that are still to come: new ids must not take them */
  readonly #lastIds: { readonly mem: number; readonly ep: number };
  /** what this run wrote, or would have written, by what makes it one of a kind */
  readonly #planned = new Map<string, number>();
  /** episodes that the store held before this run, by bucket and summary; each stands for one in the file */
  readonly #summaries = new Map<string, Map<string, number[]>>();
  readonly #profiles = new Set<string>();
  readonly #replaced: { readonly profile: MovedProfile; readonly before: MovedProfile | null }[] = [];
  readonly #added: RecordId[] = [];
  /** written in the open transaction; lost when that is rolled back */
  #batch: RecordId[] = [];
  #nextPlanned = -1;

  constructor(store: TargetStore, dryRun: boolean, lastIds = { mem: 0, ep: 0 }) {
    this.#store = store;
    this.#dryRun = dryRun;
    this.#lastIds = lastIds;
  }

  transaction<T>(work: () => T): T {
    if (this.#dryRun) return work();
    this.#batch = [];
    const result = this.#store.transaction(work);
    this.#added.push(...this.#batch);
    return result;
  }

  memoryHolder(memory: Memory): number | null {
    const byId = memory.msgId === "" ? null : this.#store.holderOfMsgId(memory, memory.msgId);
    const held = byId ?? this.#store.holderOfContent(memory, memory.content);
    if (held !== null || !this.#dryRun) return held;
    const planned = keysOf(memory).map((key) => this.#planned.get(key));
    return planned.find((id) => id !== undefined) ?? null;
  }

  addMemory(memory: Memory, embedding: NewEmbedding | null, use: MovedUse | null): number {
    if (this.#dryRun) {
      const id = this.#nextPlanned--;
      for (const key of keysOf(memory)) this.#planned.set(key, id);
      return id;
    }
    const moved = { id: memory.id, above: this.#lastIds.mem, use };
    const id = this.#store.addMemory(memory, embedding, moved);
    if (id === null) throw new Error("the unique indexes refused a row that the probes did not find");
    this.#batch.push({ kind: "mem", id });
    return id;
  }

  /** Sessions may end alike, so a summary that the file holds twice is two episodes. */
  episodeHolder(episode: Episode): number | null {
    const bucket = JSON.stringify([episode.agentId, episode.projectId, episode.channel]);
    let held = this.#summaries.get(bucket);
    if (held === undefined) {
      held = new Map();
      for (const { id, summary } of this.#store.summaries(episode))
        held.set(summary, [...(held.get(summary) ?? []), id]);
      this.#summaries.set(bucket, held);
    }
    return held.get(episode.summary)?.shift() ?? null;
  }

  addEpisode(episode: Episode, embedding: NewEmbedding | null, use: MovedUse | null): number {
    if (this.#dryRun) return this.#nextPlanned--;
    // The bucket's summaries must be read before its first new row is written.
    const moved = { id: episode.id, above: this.#lastIds.ep, use };
    const id = this.#store.addEpisode(episode, embedding, moved);
    this.#batch.push({ kind: "ep", id });
    return id;
  }

  /** The newer of two profiles wins; equal ones stay. */
  putProfile(profile: MovedProfile): "put" | "kept" | "second" {
    const key = JSON.stringify([profile.agentId, profile.userId]);
    if (this.#profiles.has(key)) return "second";
    this.#profiles.add(key);
    const stored = this.#store.profile(profile.agentId, profile.userId);
    if (stored !== null && !isNewer(profile, stored)) return "kept";
    if (this.#dryRun) return "put";
    this.#store.putProfile(profile);
    this.#replaced.push({ profile, before: stored });
    return "put";
  }

  addRelation(from: number, to: number, type: RelationType, createdAt: string): boolean {
    if (this.#dryRun) return !this.#store.hasRelation(from, to, type);
    return this.#store.addRelation(from, to, type, createdAt);
  }

  putCoUse(low: number, high: number, weight: number, moment: number): void {
    if (!this.#dryRun) this.#store.putCoUse(low, high, weight, moment);
  }

  /** Takes back what this run wrote. */
  undo(): void {
    if (this.#dryRun) return;
    this.#store.transaction(() => {
      this.#store.deleteRecords(this.#added);
      for (const { profile, before } of this.#replaced) {
        if (before === null) this.#store.removeProfile(profile.agentId, profile.userId);
        else this.#store.putProfile(before);
      }
    });
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
