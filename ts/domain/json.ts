// JSON that comes from outside: one bound on its nesting, so that no text can exhaust the stack of what reads it.

/**
 * Levels of lists and objects that a value from outside may have: arguments of tools, lines of an import, access
 * lists, manifests, answers of servers. A metadata object of `{"a": [1]}` has two.
 */
export const MAX_JSON_DEPTH = 64;

/** A protocol message wraps its arguments in a few levels of its own. */
export const MAX_MESSAGE_DEPTH = MAX_JSON_DEPTH + 8;

/** A text that is no JSON, or nested deeper than allowed. */
export class JsonError extends Error {
  /** to put behind the name of what was read: `is not JSON` */
  readonly fault: string;
  readonly isTooDeep: boolean;

  constructor(fault: string, isTooDeep = false) {
    super(`the text ${fault}`);
    this.name = "JsonError";
    this.fault = fault;
    this.isTooDeep = isTooDeep;
  }
}

/** Throws `JsonError`. The nesting is looked at before anything is built. */
export function parseJson(text: string, maxDepth = MAX_JSON_DEPTH): unknown {
  if (isTextDeeper(text, maxDepth)) throw new JsonError(`is nested more than ${maxDepth} levels deep`, true);
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonError("is not JSON");
  }
}

/** The same for bytes, which must be UTF-8. A byte order mark is allowed. */
export function parseJsonBytes(bytes: Uint8Array, maxDepth = MAX_JSON_DEPTH): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new JsonError("is not UTF-8");
  }
  return parseJson(text, maxDepth);
}

/** Whether bytes hold nothing but ASCII blanks and ends of lines. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

/** The rule that a value's nesting breaks, or null. */
export function depthDefect(value: unknown, maxDepth = MAX_JSON_DEPTH): string | null {
  const open: { readonly items: readonly unknown[]; next: number }[] = [];
  const enter = (item: unknown): void => {
    if (typeof item === "object" && item !== null && !ArrayBuffer.isView(item))
      open.push({ items: Array.isArray(item) ? item : Object.values(item), next: 0 });
  };
  enter(value);
  while (open.length > 0) {
    if (open.length > maxDepth) return `must not be nested more than ${maxDepth} levels deep`;
    const level = open[open.length - 1] as (typeof open)[number];
    if (level.next >= level.items.length) open.pop();
    else enter(level.items[level.next++]);
  }
  return null;
}

/** Jumps from bracket to bracket and over strings; what is no JSON may count as anything. */
function isTextDeeper(text: string, maxDepth: number): boolean {
  const marks = /["[\]{}]/g;
  let depth = 0;
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    const [mark] = found;
    if (mark === '"') marks.lastIndex = stringEnd(text, found.index);
    else if (mark === "]" || mark === "}") depth--;
    else if (++depth > maxDepth) return true;
  }
  return false;
}

/** Behind the string that starts at `start`; the text's end where it is not closed. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text[at - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return text.length;
}
