// The sorted pieces of a static token table, walked like a trie: every prefix is a range of the sorted list,
// and each further byte narrows it by binary search. Nothing is built when a table is opened (a Map of the
// 58,310 pieces takes about 20 ms), and a walk ends with the first byte that no piece continues with.

export class PieceTrie {
  readonly count: number;
  readonly #offsets: Uint32Array;
  readonly #blob: Uint8Array;

  /**
   * @param offsets length count + 1; where each piece starts in `blob`
   * @param blob the pieces in UTF-8, sorted by their bytes, all different
   */
  constructor(offsets: Uint32Array, blob: Uint8Array) {
    this.count = offsets.length - 1;
    this.#offsets = offsets;
    this.#blob = blob;
  }

  /**
   * First piece of `[low, high)` whose byte at `depth` is at least `byte`. The pieces of that range must
   * share their first `depth` bytes. `high` when there is none.
   */
  narrow(low: number, high: number, depth: number, byte: number): number {
    const offsets = this.#offsets;
    const blob = this.#blob;
    let from = low;
    let to = high;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const at = (offsets[middle] as number) + depth;
      // A piece that ends here is the prefix itself, and sorts before all that go on.
      const isBelow = at >= (offsets[middle + 1] as number) || (blob[at] as number) < byte;
      if (isBelow) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Whether the piece is exactly `length` bytes long; the shortest piece of a prefix's range is its first. */
  hasLength(piece: number, length: number): boolean {
    return (this.#offsets[piece + 1] as number) - (this.#offsets[piece] as number) === length;
  }
}
