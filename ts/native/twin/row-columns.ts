// The rows of an in-memory vector index, column by column, in arrays that double when they are full.
// It stores rows; it has no opinion on which of them are visible.

import type { VectorRows } from "../contract.js";

export class RowColumns {
  readonly dimension: number;
  count = 0;
  #capacity = 0;
  keys = new Float64Array(0);
  blocks = new Uint32Array(0);
  scopes = new Uint32Array(0);
  times = new Float64Array(0);
  /** capacity × dimension, row-major */
  vectors = new Float32Array(0);
  /** 1 where a row is removed */
  removed = new Uint8Array(0);

  constructor(dimension: number) {
    this.dimension = dimension;
  }

  /** Bytes held, spare room included. */
  get bytes(): number {
    const columns = [this.keys, this.blocks, this.scopes, this.times, this.vectors, this.removed];
    return columns.reduce((sum, column) => sum + column.byteLength, 0);
  }

  append(rows: VectorRows): void {
    const end = this.count + rows.keys.length;
    if (end > this.#capacity) this.#grow(Math.max(end, this.#capacity * 2, 64));
    this.keys.set(rows.keys, this.count);
    this.blocks.set(rows.blocks, this.count);
    this.scopes.set(rows.scopes, this.count);
    this.times.set(rows.times, this.count);
    this.vectors.set(rows.vectors, this.count * this.dimension);
    this.count = end;
  }

  /** Copies one row of `other`, of the same dimension, behind the rows here. */
  appendFrom(other: RowColumns, row: number): void {
    const width = this.dimension;
    this.append({
      keys: other.keys.subarray(row, row + 1),
      blocks: other.blocks.subarray(row, row + 1),
      scopes: other.scopes.subarray(row, row + 1),
      times: other.times.subarray(row, row + 1),
      vectors: other.vectors.subarray(row * width, (row + 1) * width),
    });
  }

  #grow(capacity: number): void {
    this.keys = copyInto(new Float64Array(capacity), this.keys);
    this.blocks = copyInto(new Uint32Array(capacity), this.blocks);
    this.scopes = copyInto(new Uint32Array(capacity), this.scopes);
    this.times = copyInto(new Float64Array(capacity), this.times);
    this.vectors = copyInto(new Float32Array(capacity * this.dimension), this.vectors);
    this.removed = copyInto(new Uint8Array(capacity), this.removed);
    this.#capacity = capacity;
  }
}

function copyInto<T extends Float64Array | Float32Array | Uint32Array | Uint8Array>(target: T, source: T): T {
  target.set(source);
  return target;
}
