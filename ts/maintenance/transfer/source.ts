// A file with records, readable twice: first to see that it is whole, then to take its records in.

import { open } from "node:fs/promises";
import { JsonError, MAX_JSON_DEPTH, parseJson } from "../../domain/json.js";
import { MemoryError } from "../../errors.js";
import type { Line } from "./wire.js";

export interface SourceRecord {
  /** line of the file, or number of the row */
  readonly line: number;
  readonly record: Line;
  /** why the line cannot be a record; the record is empty then */
  readonly fault?: string;
}

export interface RecordSource {
  /** what a line number counts, for messages */
  readonly unit: "line" | "row";
  records(): AsyncIterable<SourceRecord> | Iterable<SourceRecord>;
  close(): void;
}

const CHUNK_BYTES = 1 << 20;
/** A memory with its vectors has some 100 kB; a longer line is no line of an export. */
const MAX_LINE_BYTES = 16 << 20;

/** A JSON Lines file. Damage (no UTF-8, a line that is no JSON object) throws `damaged_file` with its line. */
export function jsonLinesSource(path: string): RecordSource {
  return { unit: "line", records: () => readLines(path), close: () => {} };
}

async function* readLines(path: string): AsyncGenerator<SourceRecord> {
  const file = await open(path, "r");
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let rest: Buffer = Buffer.alloc(0);
    let line = 0;
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, null);
      const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      let start = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
        line++;
        const record = parseLine(bytes.subarray(start, end), line, decoder);
        if (record !== null) yield record;
        start = end + 1;
      }
      rest = Buffer.from(bytes.subarray(start));
      if (rest.length > MAX_LINE_BYTES) throw damaged(line + 1, "is too long");
      if (bytesRead > 0) continue;
      const record = parseLine(rest, line + 1, decoder);
      if (record !== null) yield record;
      return;
    }
  } finally {
    await file.close();
  }
}

function parseLine(
  bytes: Buffer,
  line: number,
  decoder: InstanceType<typeof TextDecoder>,
): SourceRecord | null {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw damaged(line, "is not UTF-8");
  }
  if (text.trim() === "") return null;
  try {
    // The record is one level more than what it holds.
    const record = parseJson(text, MAX_JSON_DEPTH + 1);
    if (typeof record === "object" && record !== null && !Array.isArray(record))
      return { line, record: record as Line };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    // A row that is meant badly, not a file that is cut.
    if (error.isTooDeep) return { line, record: {}, fault: error.fault };
    throw damaged(line, error.fault);
  }
  throw damaged(line, "is not a JSON object");
}

function damaged(line: number, what: string): MemoryError {
  return new MemoryError(
    "damaged_file",
    `import aborted, nothing was imported: line ${line} of the file ${what}; it is cut or damaged`,
  );
}
