// One agent's records into another's, copied or moved, in one transaction. What the target holds already is
// skipped; a target's profile always wins.

import type { Episode, Memory } from "../domain/memory.js";
import { type RecordId, recordKey } from "../domain/record.js";
import { invalidArgument } from "../errors.js";
import { checkScope } from "../remember/checks.js";
import type { RecordBelongings } from "../store/belongings.js";
import type { NewEmbedding } from "../store/store.js";
import type { Progress } from "./progress.js";
import type { ExportSnapshot } from "./transfer/export.js";
import { ImportTarget, type TargetStore } from "./transfer/target.js";

export interface MergeRequest {
  readonly sourceAgent: string;
  readonly targetAgent: string;
  readonly mode: "copy" | "move";
  readonly dryRun: boolean;
  readonly progress?: Progress | undefined;
}

export interface MergeOutcome {
  readonly mergedMemories: number;
  readonly skippedMemories: number;
  readonly mergedEpisodes: number;
  readonly skippedEpisodes: number;
  readonly profileCopied: boolean;
  readonly skippedProfile: boolean;
  readonly relations: number;
  /** rows that a move took from the source; null for a copy */
  readonly moved: { readonly memories: number; readonly episodes: number; readonly profiles: number } | null;
  /** rows that a move left there because the target holds them */
  readonly left: { readonly memories: number; readonly episodes: number; readonly profiles: number } | null;
}

export interface MergeParts {
  readonly rows: ExportSnapshot;
  readonly store: TargetStore;
  readonly dimensionOf: (identity: string) => number;
}

const PAGE_ROWS = 200;

interface Row {
  readonly kind: "mem" | "ep";
  readonly id: number;
  readonly row: Memory | Episode;
  readonly belongings: RecordBelongings;
}

/** Throws `invalid_argument`. A move keeps the records' ids, so that refs go on to hold. */
export function mergeAgents(request: MergeRequest, parts: MergeParts): MergeOutcome {
  const { sourceAgent, targetAgent } = request;
  if (sourceAgent === "") throw invalidArgument("source_agent_id", "must not be empty");
  if (targetAgent === "") throw invalidArgument("target_agent_id", "must not be empty");
  if (sourceAgent === targetAgent) throw invalidArgument("target_agent_id", "must be another agent");
  checkScope({ agentId: targetAgent, projectId: "", channel: "" });
  return parts.store.transaction(() => new MergeRun(request, parts).finish());
}

class MergeRun {
  readonly #request: MergeRequest;
  readonly #parts: MergeParts;
  readonly #target: ImportTarget;
  readonly #keys = new Map<number, number>();
  readonly #merged = { mem: 0, ep: 0 };
  readonly #skipped = { mem: 0, ep: 0 };
  #done = 0;

  constructor(request: MergeRequest, parts: MergeParts) {
    this.#request = request;
    this.#parts = parts;
    this.#target = new ImportTarget(parts.store, request.dryRun);
  }

  finish(): MergeOutcome {
    const { rows } = this.#parts;
    const { sourceAgent, mode, dryRun, progress = () => {} } = this.#request;
    const counts = rows.counts(sourceAgent);
    const total = counts.memories + counts.episodes;
    const all: Row[] = [];
    // Deleting a row takes its relations with it: a move reads everything before it deletes anything.
    for (const page of mode === "move" ? [...this.#pages()] : this.#pages()) {
      const fresh = page.filter((row) => this.#isNew(row));
      // A move frees the ids first, so that the rows keep them.
      if (mode === "move" && !dryRun)
        this.#parts.store.deleteRecords(fresh.map(({ kind, id }): RecordId => ({ kind, id })));
      for (const row of fresh) this.#add(row);
      all.push(...page);
      this.#done += page.length;
      progress(this.#done, total);
    }
    const relations = this.#connect(all);
    const profile = this.#takeProfile();
    return {
      mergedMemories: this.#merged.mem,
      skippedMemories: this.#skipped.mem,
      mergedEpisodes: this.#merged.ep,
      skippedEpisodes: this.#skipped.ep,
      profileCopied: profile === "copied",
      skippedProfile: profile === "skipped",
      relations,
      moved:
        mode === "copy"
          ? null
          : { memories: this.#merged.mem, episodes: this.#merged.ep, profiles: profile === "copied" ? 1 : 0 },
      left:
        mode === "copy"
          ? null
          : {
              memories: this.#skipped.mem,
              episodes: this.#skipped.ep,
              profiles: profile === "skipped" ? 1 : 0,
            },
    };
  }

  *#pages(): Generator<Row[]> {
    const { rows } = this.#parts;
    for (const kind of ["mem", "ep"] as const) {
      for (let after = 0; ; ) {
        const ids = rows.idsAfter(kind, this.#request.sourceAgent, after, PAGE_ROWS);
        if (ids.length === 0) break;
        const belongings = rows.belongings(ids.map((id) => recordKey(kind, id)));
        const found = kind === "mem" ? rows.memories(ids) : rows.episodes(ids);
        yield [...found]
          .sort((a, b) => a.id - b.id)
          .map((row) => ({
            kind,
            id: row.id,
            row,
            belongings: belongings.get(recordKey(kind, row.id)) as RecordBelongings,
          }));
        after = ids[ids.length - 1] as number;
      }
    }
  }

  #isNew({ kind, id, row }: Row): boolean {
    const moved = { ...row, agentId: this.#request.targetAgent };
    const held =
      kind === "mem"
        ? this.#target.memoryHolder(moved as Memory)
        : this.#target.episodeHolder(moved as Episode);
    if (held === null) return true;
    this.#skipped[kind]++;
    this.#keys.set(recordKey(kind, id), recordKey(kind, held));
    return false;
  }

  #add({ kind, id, row, belongings }: Row): void {
    const moved = { ...row, id: this.#request.mode === "move" ? id : 0, agentId: this.#request.targetAgent };
    const embedding = this.#embedding(belongings);
    const newId =
      kind === "mem"
        ? this.#target.addMemory(moved as Memory, embedding, belongings.use)
        : this.#target.addEpisode(moved as Episode, embedding, belongings.use);
    this.#merged[kind]++;
    this.#keys.set(recordKey(kind, id), recordKey(kind, newId));
  }

  #embedding({ vectors }: RecordBelongings): NewEmbedding | null {
    if (vectors === null) return null;
    const { identity, blocks } = vectors;
    return { identity, dimension: this.#parts.dimensionOf(identity), blocks };
  }

  /** Relations and shared use between records that the target has both of. */
  #connect(rows: readonly Row[]): number {
    let added = 0;
    for (const { kind, id, belongings } of rows) {
      const ours = this.#keys.get(recordKey(kind, id));
      if (ours === undefined) continue;
      for (const { to, type, createdAt } of belongings.relations) {
        const theirs = this.#keys.get(to);
        if (theirs !== undefined && this.#target.addRelation(ours, theirs, type, createdAt)) added++;
      }
      for (const { key, weight, moment } of belongings.usedWith) {
        const theirs = this.#keys.get(key);
        if (theirs !== undefined) this.#target.putCoUse(ours, theirs, weight, moment);
      }
    }
    return added;
  }

  #takeProfile(): "copied" | "skipped" | "none" {
    const { store } = this.#parts;
    const { sourceAgent, targetAgent, mode, dryRun } = this.#request;
    const given = store.profile(sourceAgent, "");
    if (given === null) return "none";
    if (store.profile(targetAgent, "") !== null) return "skipped";
    if (dryRun) return "copied";
    store.putProfile({ ...given, agentId: targetAgent });
    if (mode === "move") store.removeProfile(sourceAgent, "");
    return "copied";
  }
}
