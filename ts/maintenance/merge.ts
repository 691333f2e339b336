// One agent's records into another's, copied or moved, in short steps. What the target holds already is skipped; a
// target's profile always wins.

import { recordKey } from "../domain/record.js";
import { EVERYTHING } from "../domain/scope.js";
import { invalidArgument } from "../errors.js";
import { nextTurn } from "../next-turn.js";
import { checkScope } from "../remember/checks.js";
import type { Store } from "../store/store.js";
import { HeldEpisodes } from "./jobs/held-episodes.js";
import type { JobRunner } from "./jobs/jobs.js";
import { type MergeState, MergeWork } from "./jobs/merge-work.js";
import type { Progress } from "./progress.js";

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

type Counts = Pick<MergeState, "merged" | "skipped" | "relations" | "profile">;

/** Throws `invalid_argument`, or `storage_busy` while other long work changes rows of one of the agents. */
export async function mergeAgents(
  request: MergeRequest,
  store: Store,
  jobs: JobRunner,
): Promise<MergeOutcome> {
  const { sourceAgent, targetAgent, mode, dryRun, progress } = request;
  if (sourceAgent === "") throw invalidArgument("source_agent_id", "must not be empty");
  if (targetAgent === "") throw invalidArgument("target_agent_id", "must not be empty");
  if (sourceAgent === targetAgent) throw invalidArgument("target_agent_id", "must be another agent");
  checkScope({ agentId: targetAgent, projectId: "", channel: "" });
  if (dryRun) return toOutcome(await new MergePreview(request, store).run(), mode);
  const id = await jobs.begin("merge", [sourceAgent, targetAgent], () =>
    MergeWork.begin(store, sourceAgent, targetAgent, mode === "move"),
  );
  const { state } = await jobs.complete(id, progress);
  return toOutcome(state as MergeState, mode);
}

function toOutcome({ merged, skipped, relations, profile }: Counts, mode: "copy" | "move"): MergeOutcome {
  const isMove = mode === "move";
  const count = (by: typeof merged, name: Counts["profile"]) => ({
    memories: by.mem,
    episodes: by.ep,
    profiles: profile === name ? 1 : 0,
  });
  return {
    mergedMemories: merged.mem,
    skippedMemories: skipped.mem,
    mergedEpisodes: merged.ep,
    skippedEpisodes: skipped.ep,
    profileCopied: profile === "copied",
    skippedProfile: profile === "skipped",
    relations,
    moved: isMove ? count(merged, "copied") : null,
    left: isMove ? count(skipped, "skipped") : null,
  };
}

const TURN_ROWS = 500;
/** What a merge would do, without a lock. */
class MergePreview {
  readonly #request: MergeRequest;
  readonly #store: Store;
  /** key at the source -> key of the target's record that stands for it, or `new` */
  readonly #others = new Map<number, number | "new">();
  readonly #merged = { mem: 0, ep: 0 };
  readonly #skipped = { mem: 0, ep: 0 };

  constructor(request: MergeRequest, store: Store) {
    this.#request = request;
    this.#store = store;
  }

  async run(): Promise<Counts> {
    const { transfer, episodes } = this.#store;
    const { sourceAgent, targetAgent, progress = () => {} } = this.#request;
    const memories = transfer.idsUntil("mem", sourceAgent, Number.MAX_SAFE_INTEGER);
    const summaries = transfer.idsUntil("ep", sourceAgent, Number.MAX_SAFE_INTEGER);
    const total = memories.length + summaries.length;
    const held = new HeldEpisodes(transfer.summariesUntil(targetAgent, Number.MAX_SAFE_INTEGER));
    for (const id of memories) {
      this.#count("mem", id, transfer.holderFor(id, targetAgent));
      await this.#turn(progress, total);
    }
    for (const id of summaries) {
      const [episode] = episodes.get([id], EVERYTHING);
      if (episode !== undefined) this.#count("ep", id, held.take(episode));
      await this.#turn(progress, total);
    }
    progress(total, total);
    return {
      merged: this.#merged,
      skipped: this.#skipped,
      relations: await this.#relations(),
      profile: this.#profile(),
    };
  }

  #count(kind: "mem" | "ep", id: number, holder: number | null): void {
    (holder === null ? this.#merged : this.#skipped)[kind]++;
    this.#others.set(recordKey(kind, id), holder === null ? "new" : recordKey(kind, holder));
  }

  async #turn(progress: Progress, total: number): Promise<void> {
    if (this.#others.size % TURN_ROWS !== 0) return;
    progress(this.#others.size, total);
    await nextTurn();
  }

  async #relations(): Promise<number> {
    const found = new Set<string>();
    let seen = 0;
    for (const [key, ours] of this.#others) {
      if (++seen % TURN_ROWS === 0) await nextTurn();
      for (const { to, type } of this.#store.relations.edgesOf(key).out) {
        const theirs = this.#others.get(to);
        if (theirs === undefined || (ours === theirs && ours !== "new")) continue;
        const isHeld = ours !== "new" && theirs !== "new" && this.#store.relations.has(ours, theirs, type);
        const name = (other: number | "new", own: number) => (other === "new" ? `new ${own}` : other);
        if (!isHeld) found.add(`${name(ours, key)}:${name(theirs, to)}:${type}`);
      }
    }
    return found.size;
  }

  #profile(): Counts["profile"] {
    const { transfer } = this.#store;
    if (transfer.profile(this.#request.sourceAgent, "") === null) return "none";
    return transfer.profile(this.#request.targetAgent, "") === null ? "copied" : "skipped";
  }
}
