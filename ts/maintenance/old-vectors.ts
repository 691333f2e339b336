// Vectors of embedders that are not used any more. Those of the one before stay, so that going back costs
// nothing, and so do those of any that was in use within a day; older ones go, once every record has its
// successor. A store so holds two sets of vectors, and more only on days on which more models are tried.

import type { UsedEmbedder } from "../store/embedder-uses.js";
import { breathe } from "./progress.js";

export interface OldVectorsParts {
  readonly clock: { now(): number };
  /** code of the present embedder's vectors; null while it is off or unknown */
  readonly embedderCode: () => number | null;
  readonly touch: (code: number, now: number) => void;
  /** embedders that hold vectors, the last used first */
  readonly byLastUse: () => readonly UsedEmbedder[];
  /** Removes some vectors behind a record; the key to go on from, null at the end. */
  readonly removeVectors: (code: number, after: number, limit: number) => number | null;
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
  touch(): void {
    const code = this.#parts.embedderCode();
    if (code !== null) this.#parts.touch(code, this.#parts.clock.now());
  }

  /** To be called when no record lacks a vector of the present embedder. Returns the identities that went. */
  async removeOutdated(isClosed: () => boolean): Promise<string[]> {
    const present = this.#parts.embedderCode();
    if (present === null) return [];
    const others = this.#parts.byLastUse().filter(({ code }) => code !== present);
    const yesterday = this.#parts.clock.now() - DAY_MS;
    const outdated = others.slice(1).filter(({ lastUsedAt }) => lastUsedAt < yesterday);
    const gone: string[] = [];
    for (const { code, identity } of outdated) {
      for (let after: number | null = 0; after !== null; ) {
        if (isClosed()) return gone;
        after = this.#parts.removeVectors(code, after, STEP_BLOCKS);
        await breathe();
      }
      this.#parts.removeIndex(identity);
      gone.push(identity);
    }
    return gone;
  }
}
