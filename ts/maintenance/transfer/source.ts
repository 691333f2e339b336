// A file with records, readable twice: first to see that it is whole, then to take its records in.

import { open } from "node:fs/promises";
import { MemoryError } from "../../errors.js";
import type { Line } from "./wire.js";

export interface SourceRecord {
  /** line of the file, or number of the row */
  readonly line: number;
  readonly record: Line;
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
        if (record !== null) yield { line, record };
        start = end + 1;
      }
      rest = Buffer.from(bytes.subarray(start));
      if (rest.length > MAX_LINE_BYTES) throw damaged(line + 1, "is too long");
      if (bytesRead > 0) continue;
      const record = parseLine(rest, line + 1, decoder);
      if (record !== null) yield { line: line + 1, record };
      return;
    }
  } finally {
    await file.close();
  }
}

function parseLine(bytes: Buffer, line: number, decoder: InstanceType<typeof TextDecoder>): Line | null {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw damaged(line, "is not UTF-8");
  }
  if (text.trim() === "") return null;
  try {
    const record: unknown = JSON.parse(text);
    if (typeof record === "object" && record !== null && !Array.isArray(record)) return record as Line;
  } catch {
    throw damaged(line, "is not JSON");
  }
  throw damaged(line, "is not a JSON object");
}

function damaged(line: number, what: string): MemoryError {
  return new MemoryError(
    "damaged_file",
    `import aborted, nothing was imported: line ${line} of the file ${what}; it is cut or damaged`,
  );
}
