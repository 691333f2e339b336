// Vectors of embedders that are not used any more. Those of the one before stay, so that going back costs
// nothing, and so do those of any that was in use within a day; older ones go, of every record that has its
// successor. A store so holds two sets of vectors, and more only on days on which more models are tried.

import { nextTurn } from "../next-turn.js";
import type { UsedEmbedder } from "../store/embedder-uses.js";

export interface OldVectorsParts {
  readonly clock: { now(): number };
  /** code of the present embedder's vectors; null while it is off or unknown */
  readonly embedderCode: () => number | null;
  readonly touch: (code: number, now: number) => Promise<void>;
  /** embedders that hold vectors, the last used first */
  readonly byLastUse: () => readonly UsedEmbedder[];
  /** Removes some vectors of an embedder, of records that have one of its successor. */
  readonly removeVectors: (
    code: number,
    successor: number,
    from: number,
    limit: number,
  ) => Promise<{ readonly removed: number; readonly next: number | null }>;
  readonly removeIndex: (identity: string) => void;
}

const DAY_MS = 86_400_000;
const STEP_BLOCKS = 500;

export class OldVectors {
  readonly #parts: OldVectorsParts;

  constructor(parts: OldVectorsParts) {
    this.#parts = parts;
  }

  /** The present embedder is in use. */
  async touch(): Promise<void> {
    const code = this.#parts.embedderCode();
    if (code !== null) await this.#parts.touch(code, this.#parts.clock.now());
  }

  /** Meant for when the present embedder's vectors are made. Returns the identities of which vectors went. */
  async removeOutdated(isClosed: () => boolean): Promise<string[]> {
    const present = this.#parts.embedderCode();
    if (present === null) return [];
    const others = this.#parts.byLastUse().filter(({ code }) => code !== present);
    const yesterday = this.#parts.clock.now() - DAY_MS;
    const outdated = others.slice(1).filter(({ lastUsedAt }) => lastUsedAt < yesterday);
    const gone: string[] = [];
    for (const { code, identity } of outdated) {
      let removed = 0;
      for (let from: number | null = 0; from !== null; ) {
        if (isClosed()) return gone;
        const step = await this.#parts.removeVectors(code, present, from, STEP_BLOCKS);
        removed += step.removed;
        from = step.next;
        await nextTurn();
      }
      if (removed > 0) gone.push(identity);
      this.#parts.removeIndex(identity);
    }
    return gone;
  }
}
