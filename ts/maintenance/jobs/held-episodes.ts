// Episodes that the target of a merge held before it began. Sessions may end alike, so each stands for one of the
// source's only.

import type { Episode } from "../../domain/memory.js";

export class HeldEpisodes {
  readonly #ids = new Map<string, number[]>();

  constructor(
    episodes: readonly { readonly id: number; readonly bucket: string; readonly summary: string }[],
  ) {
    for (const { id, bucket, summary } of episodes) {
      const key = bucket + summary;
      const ids = this.#ids.get(key);
      if (ids === undefined) this.#ids.set(key, [id]);
      else ids.push(id);
    }
  }

  /** The next one with this bucket and summary, which is then given out; null when there is none. */
  take({ projectId, channel, summary }: Episode): number | null {
    return this.#ids.get(JSON.stringify([projectId, channel]) + summary)?.shift() ?? null;
  }
}
