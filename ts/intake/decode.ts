// Bytes to text: UTF-8 (with or without BOM) and UTF-16 with BOM. Other encodings are named, not guessed,
// because a wrong guess would be stored for good.
import { createReadStream } from "node:fs";

/** Decoded text, or why there is none. */
export type Decoded = { text: string } | { problem: string };

/** How many bytes are looked at to tell text from binary. */
export const SNIFF_BYTES = 8_192;

/** Whether the first bytes of a file look like no text at all. Text may hold a few stray NULs. */
export function looksBinary(head: Uint8Array): boolean {
  if (hasUtf16Bom(head)) return false;
  const window = head.subarray(0, SNIFF_BYTES);
  let controls = 0;
  for (const byte of window) {
    if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) controls++;
  }
  return controls > window.length / 50;
}

function hasUtf16Bom(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** The text of a whole file, without BOM, with `\n` ends. */
export function decode(bytes: Uint8Array): Decoded {
  if (hasUtf16Bom(bytes)) {
    const label = bytes[0] === 0xff ? "utf-16le" : "utf-16be";
    return { text: unixEnds(new TextDecoder(label).decode(bytes)) };
  }
  try {
    return { text: unixEnds(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch {
    return { problem: notUtf8(bytes) };
  }
}

function unixEnds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** One sentence for a person whose file is in another encoding. */
function notUtf8(bytes: Uint8Array): string {
  // Japanese first: half-width forms make Shift_JIS accept much, so it must also give kana or kanji.
  for (const [label, name] of [
    ["euc-jp", "EUC-JP"],
    ["shift_jis", "Shift_JIS"],
  ] as const) {
    try {
      const text = new TextDecoder(label, { fatal: true }).decode(bytes);
      if (/[\u3041-\u30fe\u4e00-\u9fff]/.test(text)) {
        return `not UTF-8, looks like ${name}: save it as UTF-8 and try again`;
      }
    } catch {
      // Not this one.
    }
  }
  return "not UTF-8: save it as UTF-8 and try again";
}

/** One line of a big file. `text` is undefined when the line was too long to hold or is not UTF-8. */
export interface Line {
  number: number;
  text: string | undefined;
  problem?: string;
}

/** Longest line that is decoded, in bytes. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Lines of a file of any size, with one line in memory at a time. Not `node:readline`: that would hold a
 * line of any length and would turn broken UTF-8 into question marks without a word.
 */
export async function* readLines(path: string, maxBytes = MAX_LINE_BYTES): AsyncGenerator<Line> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let parts: Uint8Array[] = [];
  let size = 0;
  let number = 0;
  const finish = (): Line => {
    number++;
    const bytes = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    const tooLong = size > maxBytes;
    parts = [];
    size = 0;
    if (tooLong) return { number, text: undefined, problem: `line longer than ${maxBytes >> 20} MB` };
    try {
      const text = decoder.decode(bytes);
      return { number, text: text.endsWith("\r") ? text.slice(0, -1) : text };
    } catch {
      return { number, text: undefined, problem: notUtf8(bytes ?? new Uint8Array()) };
    }
  };
  const keep = (bytes: Uint8Array) => {
    size += bytes.length;
    if (size <= maxBytes && bytes.length > 0) parts.push(bytes);
    else if (size > maxBytes) parts = [];
  };
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    // A byte 0x0a is a line feed wherever it stands in UTF-8.
    for (let at = chunk.indexOf(10, start); at >= 0; at = chunk.indexOf(10, start)) {
      keep(chunk.subarray(start, at));
      yield finish();
      start = at + 1;
    }
    keep(chunk.subarray(start));
  }
  if (size > 0) yield finish();
}
