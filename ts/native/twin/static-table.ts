// The static token table in plain TypeScript: reads `static.ste`, splits text into pieces, sums their rows.
// Format and algorithm stand in assets/static-multilingual/README.md; golden.json there pins both.

import { readFileSync } from "node:fs";
import { MemoryError } from "../../errors.js";
import type { StaticTable } from "../contract.js";
import { LIMITS } from "../limits.js";
import { PieceTrie } from "./piece-trie.js";

const MAGIC = "STE1";
const VERSION = 1;
const HEADER_BYTES = 32;
/** Stands for white space in pieces. */
const MARK = "\u2581";
const WHITE_SPACE = /[\t-\r \u0085\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/gu;
const OUTER_MARKS = /^\u2581+|\u2581+$/gu;

/** Reads the whole table into memory. Throws `embedding_failed` when it is absent, damaged or of another version. */
export function openTwinStaticTable(path: string): StaticTable {
  return new TwinStaticTable(parseTable(readTable(path)));
}

interface TableParts {
  readonly dimension: number;
  /** 4 or 8 */
  readonly bits: number;
  /** score of a code point without a piece */
  readonly unknownScore: number;
  readonly scores: Float32Array;
  readonly scales: Float32Array;
  readonly centre: Float32Array;
  readonly rows: Uint8Array;
  readonly pieces: PieceTrie;
}

class TwinStaticTable implements StaticTable {
  readonly #parts: TableParts;
  readonly #encoder = new TextEncoder();

  constructor(parts: TableParts) {
    this.#parts = parts;
  }

  get dimension(): number {
    return this.#parts.dimension;
  }

  get centre(): Float32Array {
    return this.#parts.centre;
  }

  /** Positions are byte offsets of the normalised text in UTF-8; only those between code points are used. */
  encode(text: string): Uint32Array {
    const { scores, unknownScore, pieces } = this.#parts;
    const bytes = this.#encoder.encode(normalise(text));
    const length = bytes.length;
    const best = new Float64Array(length + 1).fill(Number.NEGATIVE_INFINITY);
    const cameFrom = new Int32Array(length + 1);
    const pieceTo = new Int32Array(length + 1).fill(-1);
    best[0] = 0;

    let next = 0;
    for (let start = 0; start < length; start = next) {
      const here = best[start] as number;
      next = afterCodePoint(bytes, start);
      let low = 0;
      let high = pieces.count;
      for (let at = start; at < length && low < high; at++) {
        const byte = bytes[at] as number;
        const depth = at - start;
        low = pieces.narrow(low, high, depth, byte);
        high = pieces.narrow(low, high, depth, byte + 1);
        const end = at + 1;
        // Pieces are valid UTF-8, so none ends inside a code point.
        if (low >= high || !pieces.hasLength(low, depth + 1)) continue;
        const score = here + (scores[low] as number);
        if (score > (best[end] as number)) {
          best[end] = score;
          cameFrom[end] = start;
          pieceTo[end] = low;
        }
      }
      if (here + unknownScore > (best[next] as number)) {
        best[next] = here + unknownScore;
        cameFrom[next] = start;
        pieceTo[next] = -1;
      }
    }

    const ids: number[] = [];
    for (let end = length; end > 0; end = cameFrom[end] as number) {
      const piece = pieceTo[end] as number;
      if (piece >= 0) ids.push(piece);
    }
    return Uint32Array.from(ids.reverse());
  }

  embed(texts: readonly string[]): Float32Array {
    const { dimension } = this.#parts;
    const vectors = new Float32Array(texts.length * dimension);
    texts.forEach((text, i) => {
      const sum = vectors.subarray(i * dimension, (i + 1) * dimension);
      for (const piece of this.encode(text)) this.#addRow(sum, piece);
      normaliseInPlace(sum);
    });
    return vectors;
  }

  /** Products and sums are rounded to float32 one by one: the golden vectors and the native form do the same. */
  #addRow(sum: Float32Array, piece: number): void {
    const { bits, dimension, rows } = this.#parts;
    const scale = this.#parts.scales[piece] as number;
    if (bits === 8) {
      const start = piece * dimension;
      for (let j = 0; j < dimension; j++) {
        const value = ((rows[start + j] as number) << 24) >> 24;
        sum[j] = (sum[j] as number) + Math.fround(scale * value);
      }
      return;
    }
    const start = (piece * dimension) / 2;
    for (let j = 0; j < dimension; j += 2) {
      const pair = rows[start + j / 2] as number;
      sum[j] = (sum[j] as number) + Math.fround(scale * ((pair & 15) - 8));
      sum[j + 1] = (sum[j + 1] as number) + Math.fround(scale * ((pair >> 4) - 8));
    }
  }
}

function normalise(text: string): string {
  const marked = text.normalize("NFKC").toLowerCase().replace(WHITE_SPACE, MARK).replace(OUTER_MARKS, "");
  return marked === "" ? "" : MARK + marked;
}

/** Offset behind the code point that starts at `start`. */
function afterCodePoint(bytes: Uint8Array, start: number): number {
  let end = start + 1;
  while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end++;
  return end;
}

function normaliseInPlace(vector: Float32Array): void {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const norm = Math.sqrt(squares);
  if (norm > 0) for (let j = 0; j < vector.length; j++) vector[j] = (vector[j] as number) / norm;
}

function readTable(path: string): Uint8Array<ArrayBuffer> {
  let file: Buffer<ArrayBuffer>;
  try {
    file = readFileSync(path) as Buffer<ArrayBuffer>;
  } catch (error) {
    throw new MemoryError("embedding_failed", "the static token table cannot be read", { cause: error });
  }
  // The typed-array views need an aligned start; a small file may sit anywhere in Node's buffer pool.
  return file.byteOffset % 4 === 0 ? file : new Uint8Array(file);
}

function parseTable(file: Uint8Array<ArrayBuffer>): TableParts {
  if (file.length < HEADER_BYTES) throw damaged("is too short");
  const header = new DataView(file.buffer, file.byteOffset, HEADER_BYTES);
  if (String.fromCharCode(...file.subarray(0, 4)) !== MAGIC) throw damaged("is not a token table");
  if (header.getUint32(4, true) !== VERSION) throw damaged("has an unknown version");
  const count = header.getUint32(8, true);
  const dimension = header.getUint32(12, true);
  const blobBytes = header.getUint32(24, true);
  const bits = header.getUint32(28, true);
  if (dimension < 2 || dimension > LIMITS.maxDimension || dimension % 2 !== 0)
    throw damaged("has an impossible width");
  if (bits !== 4 && bits !== 8) throw damaged("has an unknown row format");
  const rowBytes = (count * dimension * bits) / 8;
  const expected = HEADER_BYTES + 4 * (count + (count + 1) + count + dimension) + rowBytes + blobBytes;
  if (expected !== file.length) throw damaged("has the wrong length");

  let at = file.byteOffset + HEADER_BYTES;
  const skip = (bytes: number) => {
    at += bytes;
    return at - bytes;
  };
  const scores = new Float32Array(file.buffer, skip(4 * count), count);
  const offsets = new Uint32Array(file.buffer, skip(4 * (count + 1)), count + 1);
  const scales = new Float32Array(file.buffer, skip(4 * count), count);
  const centre = new Float32Array(file.buffer, skip(4 * dimension), dimension);
  const rows = new Uint8Array(file.buffer, skip(rowBytes), rowBytes);
  const blob = new Uint8Array(file.buffer, skip(blobBytes), blobBytes);
  const isAscending = offsets.every((offset, i) => i === 0 || offset > (offsets[i - 1] as number));
  if (offsets[0] !== 0 || offsets[count] !== blobBytes || !isAscending)
    throw damaged("has broken piece offsets");
  const unknownScore = header.getFloat32(20, true);
  const pieces = new PieceTrie(offsets, blob);
  return { dimension, bits, unknownScore, scores, scales, centre, rows, pieces };
}

function damaged(what: string): MemoryError {
  return new MemoryError("embedding_failed", `the static token table ${what}`);
}
