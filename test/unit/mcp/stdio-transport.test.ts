import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineReader } from "../../../ts/mcp/line-reader.js";
import { StdioTransport } from "../../../ts/mcp/stdio-transport.js";

const MAX = 4096;

/** What arrives and what is answered when these bytes come in, in chunks of this size. */
async function feed(input: string | Buffer, chunkBytes = 1000) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const transport = new StdioTransport(stdin, stdout, MAX);
  const messages: unknown[] = [];
  transport.onmessage = (message) => messages.push(message);
  await transport.start();
  const bytes = Buffer.from(input as string);
  for (let at = 0; at < bytes.length; at += chunkBytes) stdin.write(bytes.subarray(at, at + chunkBytes));
  stdin.end();
  await new Promise((resolve) => stdin.once("close", resolve));
  const text = String(stdout.read() ?? "");
  const errors = text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  return { messages, errors };
}

const PING = { jsonrpc: "2.0", id: 99, method: "ping" };
const ping = `${JSON.stringify(PING)}\n`;
const text = "x".repeat(3 * MAX);

describe("a line on stdio", () => {
  it.each([
    ["first", `{"jsonrpc":"2.0","id":7,"method":"a","params":{"id":1,"text":"${text}"}}`, 7],
    [
      "behind the method",
      `{ "method" : "a", "jsonrpc":"2.0", "id": "k\\"1" , "params":{"text":"${text}"}}`,
      'k"1',
    ],
    ["last", `{"method":"a","params":{"id":1,"text":"${text}"},"jsonrpc":"2.0","id":8}`, 8],
    ["nowhere", `{"jsonrpc":"2.0","method":"a","params":{"text":"${text}","id":5}}`, null],
    ["in a text", `{"method":"a","params":{"text":"${text},\\"id\\":5}"}}`, null],
  ])("that is too long is answered by the id that stands %s, and skipped", async (_, line, id) => {
    for (const chunkBytes of [1, 777, 1 << 20]) {
      const { messages, errors } = await feed(`${line}\n${ping}`, chunkBytes);
      expect(messages).toEqual([PING]);
      const error = { code: -32_600, message: `the message has more than ${MAX} bytes; it was skipped` };
      expect(errors).toEqual([{ jsonrpc: "2.0", id, error }]);
    }
  });

  it("that is too long and never ends is answered when the input ends", async () => {
    expect(await feed(`${ping}{"jsonrpc":"2.0","id":7,"method":"a","params":["${text}`)).toMatchObject({
      messages: [PING],
      errors: [{ id: 7 }],
    });
  });

  it.each([
    ["is not JSON", "hello", -32_700, null],
    ["is not JSON, cut in the middle", '{"jsonrpc":"2.0","id":3,"method":"a","params":{', -32_700, 3],
    ["is not UTF-8", Buffer.from('{"jsonrpc":"2.0","id":4,"method":"\xff"}', "latin1"), -32_700, 4],
    [
      "is nested too deep",
      `{"jsonrpc":"2.0","id":5,"params":${"[".repeat(500)}${"]".repeat(500)}}`,
      -32_700,
      5,
    ],
    ["is a list", `[${JSON.stringify(PING)}]`, -32_600, null],
    ["is a number", "12", -32_600, null],
    ["names no method", '{"jsonrpc":"2.0","id":6}', -32_600, 6],
    ["is of another protocol", '{"id":"a","method":"ping"}', -32_600, "a"],
  ])("that %s is answered with an error", async (_, line, code, id) => {
    const { messages, errors } = await feed(
      Buffer.concat([Buffer.from(line as string), Buffer.from(`\n${ping}`)]),
    );
    expect(messages).toEqual([PING]);
    expect(errors).toMatchObject([{ jsonrpc: "2.0", id, error: { code, message: expect.any(String) } }]);
  });

  it("that is empty, or a broken answer, is answered with nothing", async () => {
    const answers = ['{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}', '{"id":1,"result":2}'];
    expect(await feed(`\n \r\n${answers.join("\n")}\n${ping}`)).toEqual({ messages: [PING], errors: [] });
  });

  it("may end as Windows ends lines, lack its end at the end of the input, and hold any character", async () => {
    const message = { ...PING, params: { text: "é\u2028日本\u{1f600}" } };
    const { messages, errors } = await feed(`${JSON.stringify(message)}\r\n${JSON.stringify(message)}`, 1);
    expect(messages).toEqual([message, message]);
    expect(errors).toEqual([]);
  });

  it("is dropped with its error while nobody reads, where it has no id", async () => {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const transport = new StdioTransport(stdin, stdout, MAX);
    await transport.start();
    for (let i = 0; i < 10_000; i++) stdin.write("nonsense\n");
    await new Promise(setImmediate);
    expect(stdout.readableLength).toBeGreaterThan(0);
    expect(stdout.readableLength + stdout.writableLength).toBeLessThan(200_000);
  });
});

describe("the line reader", () => {
  it("gives the same lines however the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 40 })), fc.integer({ min: 1, max: 50 }), (parts, size) => {
        const bytes = Buffer.from(parts.join("\n"));
        const reader = new LineReader(30);
        const lines = [];
        for (let at = 0; at < bytes.length; at += size)
          lines.push(...reader.push(bytes.subarray(at, at + size)));
        const rest = reader.rest();
        const wanted = bytes.toString().split("\n");
        const last = wanted[wanted.length - 1] === "" ? wanted.slice(0, -1) : wanted;
        expect([...lines, ...(rest === null ? [] : [rest])]).toEqual(
          last.map((line) => {
            const isLong = Buffer.byteLength(line) > 30;
            return isLong
              ? { kind: "long", start: line, end: line }
              : { kind: "line", bytes: Buffer.from(line) };
          }),
        );
      }),
    );
  });

  it("takes a line of millions of bytes that come one by one", () => {
    const reader = new LineReader(4 << 20);
    const byte = Buffer.from("x");
    for (let i = 0; i < 4 << 20; i++) for (const _ of reader.push(byte)) throw new Error("no line has ended");
    expect(reader.rest()).toMatchObject({ kind: "line", bytes: { length: 4 << 20 } });
  });

  it("keeps no more of an endless line than it promises", () => {
    const reader = new LineReader(1 << 20);
    const chunk = Buffer.alloc(1 << 16, "x");
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 4096; i++) expect([...reader.push(chunk)]).toEqual([]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 << 20);
    expect(reader.rest()).toMatchObject({ kind: "long", start: "x".repeat(1024), end: "x".repeat(1024) });
  });
});
