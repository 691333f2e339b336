// MCP messages on a pair of pipes, a line each. A line that is no message is answered with an error, and the session
// goes on: a client that waits for an answer learns why there is none.

import type { Readable, Writable } from "node:stream";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type RequestId,
} from "@modelcontextprotocol/sdk/types.js";
import { isBlank, JsonError, MAX_MESSAGE_DEPTH, parseJsonBytes } from "../domain/json.js";
import { type InputLine, LineReader } from "./line-reader.js";

/** Longest message, bytes: 10 MiB. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines: LineReader;
  readonly #maxBytes: number;

  constructor(input: Readable, output: Writable, maxBytes = MAX_MESSAGE_BYTES) {
    this.#input = input;
    this.#output = output;
    this.#maxBytes = maxBytes;
    this.#lines = new LineReader(maxBytes);
  }

  async start(): Promise<void> {
    this.#input.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError);
  }

  async close(): Promise<void> {
    this.#input.off("data", this.#onData).off("end", this.#onEnd).off("error", this.#onError);
    this.#input.pause();
    this.onclose?.();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#output.write(`${JSON.stringify(message)}\n`)) return;
    await new Promise<void>((resolve) => this.#output.once("drain", resolve));
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const line of this.#lines.push(chunk)) this.#take(line);
  };

  /** A message that lacks only its line's end is one; half a message is not worth an answer. */
  readonly #onEnd = (): void => {
    const rest = this.#lines.rest();
    if (rest !== null && (rest.kind === "long" || isWhole(rest.bytes))) this.#take(rest);
  };

  readonly #onError = (error: Error): void => this.onerror?.(error);

  #take(line: InputLine): void {
    const taken = this.#read(line);
    if (taken instanceof Refusal) this.#refuse(taken);
    else if (taken !== null) this.onmessage?.(taken);
  }

  /** Null where there is nothing to answer. */
  #read(line: InputLine): JSONRPCMessage | Refusal | null {
    if (line.kind === "long") {
      const fault = `the message has more than ${this.#maxBytes} bytes; it was skipped`;
      return new Refusal(INVALID_REQUEST, fault, idOfUnread(line.start, line.end));
    }
    // Empty lines between messages.
    if (isBlank(line.bytes)) return null;
    let value: unknown;
    try {
      value = parseJsonBytes(line.bytes, MAX_MESSAGE_DEPTH);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      const text = line.bytes.toString("latin1");
      return new Refusal(PARSE_ERROR, `the message ${error.fault}; it was skipped`, idOfUnread(text, text));
    }
    const message = JSONRPCMessageSchema.safeParse(value);
    if (message.success) return message.data;
    // An answer to what answers would never end.
    if (isAnswer(value)) return null;
    return new Refusal(INVALID_REQUEST, "the line is no message of JSON-RPC 2.0", idOf(value));
  }

  /** Without an id it says something to people at most: it is left out while nobody reads. */
  #refuse({ code, message, id }: Refusal): void {
    if (id === null && this.#output.writableNeedDrain) return;
    this.#output.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`);
  }
}

/** Why a line was not taken. */
class Refusal {
  constructor(
    readonly code: number,
    readonly message: string,
    readonly id: RequestId | null,
  ) {}
}

function isWhole(bytes: Buffer): boolean {
  try {
    parseJsonBytes(bytes, MAX_MESSAGE_DEPTH);
    return true;
  } catch (error) {
    return error instanceof JsonError && error.isTooDeep;
  }
}

function isAnswer(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !("method" in value) &&
    ("result" in value || "error" in value)
  );
}

function idOf(value: unknown): RequestId | null {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : null;
  return typeof id === "string" || Number.isSafeInteger(id) ? (id as RequestId) : null;
}

const ID = /"id"\s*:\s*("(?:[^"\\]|\\.){0,256}"|-?\d{1,16})\s*/.source;
/** Behind nothing but names of the message itself. */
const FIRST_ID = new RegExp(
  `^\\s*\\{\\s*(?:"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]{0,256}"\\s*,\\s*){0,2}${ID}[,}]`,
);
/** Before the brace that ends the message. */
const LAST_ID = new RegExp(`,\\s*${ID}\\}\\s*$`);

/** The id of a message that cannot be read whole: clients write it first or last. */
function idOfUnread(start: string, end: string): RequestId | null {
  const found = FIRST_ID.exec(start.slice(0, 2048)) ?? LAST_ID.exec(end.slice(-1024));
  try {
    return idOf({ id: JSON.parse(found?.[1] ?? "null") as unknown });
  } catch {
    return null;
  }
}
