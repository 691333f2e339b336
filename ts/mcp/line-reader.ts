// Bytes of a pipe -> lines, in bounded memory: of a line that is too long, start and end are kept and all between is
// skipped.

/** A whole line without its end, or what is left of one that was too long. */
export type InputLine =
  | { readonly kind: "line"; readonly bytes: Buffer }
  | { readonly kind: "long"; readonly start: string; readonly end: string };

/** Kept of a line that is too long, at its start and at its end. */
const KEPT_BYTES = 1024;
const LINE_FEED = 0x0a;

export class LineReader {
  readonly #maxBytes: number;
  /** the line that is coming in stands at its start; grows by doubling, so that tiny chunks cost no more than large */
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;
  /** the last bytes of a long line, of which the buffer keeps the start; null while it is not too long */
  #end: Buffer | null = null;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in this chunk. */
  *push(chunk: Buffer): Generator<InputLine> {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      this.#add(chunk.subarray(from, at));
      yield this.#take();
      from = at + 1;
    }
    this.#add(chunk.subarray(from));
  }

  /** What came without a line's end; null when nothing did. */
  rest(): InputLine | null {
    return this.#length === 0 ? null : this.#take();
  }

  #add(part: Buffer): void {
    if (this.#end !== null) {
      this.#end = tailOf(Buffer.concat([this.#end, tailOf(part)]));
      return;
    }
    const length = this.#length + part.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    part.copy(this.#buffer, this.#length);
    this.#length = length;
    if (length > this.#maxBytes) this.#skip();
  }

  #skip(): void {
    const whole = this.#buffer.subarray(0, this.#length);
    this.#end = Buffer.from(tailOf(whole));
    this.#buffer = Buffer.from(whole.subarray(0, KEPT_BYTES));
    this.#length = this.#buffer.length;
  }

  /** The buffer goes with the line: nothing of a large one stays behind. */
  #take(): InputLine {
    const bytes = this.#buffer.subarray(0, this.#length);
    const end = this.#end;
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    this.#end = null;
    if (end === null) return { kind: "line", bytes };
    return { kind: "long", start: bytes.toString("utf8"), end: end.toString("utf8") };
  }
}

function tailOf(bytes: Buffer): Buffer {
  return bytes.subarray(Math.max(0, bytes.length - KEPT_BYTES));
}
