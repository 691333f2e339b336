// A deterministic embedding server on loopback. Each word and each pair of CJK characters has a fixed random
// direction; a text is the normalised sum of its words. A few synonyms share a direction, so that "meaning
// without a common letter" can be tested.

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const DIMENSION = 256;

const SAME_MEANING: Readonly<Record<string, string>> = {
  automobile: "car",
  physician: "doctor",
  feline: "cat",
  beverage: "drink",
  residence: "house",
  purchase: "buy",
};

const RUN = /[a-z0-9]+|[\u3040-\u30ff\u4e00-\u9fff]+/g;

/**
 * The unit vector of a text. With a `formShare` above 0 it also leans that much towards one direction that all
 * questions share, or another that all statements share, as contextual models do.
 */
function stubVector(text: string, formShare: number): number[] {
  const words = wordVector(text);
  if (formShare === 0) return words;
  const form = normalised(direction(/[?？か]。?$/.test(text) ? "form: question" : "form: statement"));
  return normalised(words.map((value, i) => (1 - formShare) * value + formShare * (form[i] as number)));
}

function normalised(values: readonly number[]): number[] {
  const norm = Math.hypot(...values);
  return values.map((value) => value / norm);
}

function wordVector(text: string): number[] {
  const sum = new Array<number>(DIMENSION).fill(0);
  const words = wordsOf(text);
  for (const word of words.length === 0 ? [`text ${text}`] : words) {
    for (const [i, value] of direction(word).entries()) sum[i] = (sum[i] as number) + value;
  }
  return normalised(sum);
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(RUN) ?? []).flatMap((run) => {
    if (run < "\u3000") return [SAME_MEANING[run] ?? run];
    return run.length === 1 ? [run] : Array.from({ length: run.length - 1 }, (_, i) => run.slice(i, i + 2));
  });
}

const known = new Map<string, number[]>();

/** Enough digest bytes to fill the vector, each a component between -1 and 1. */
function direction(word: string): number[] {
  let values = known.get(word);
  if (values === undefined) {
    const bytes: number[] = [];
    for (let i = 0; bytes.length < DIMENSION; i++) {
      bytes.push(...createHash("sha256").update(`${i}:${word}`).digest());
    }
    values = bytes.slice(0, DIMENSION).map((byte) => (byte - 127.5) / 127.5);
    known.set(word, values);
  }
  return values;
}

export interface EmbedStub {
  /** the address of its `/embed` route */
  readonly url: string;
  /** texts asked for so far */
  readonly asked: string[];
  /** answers every request with this status while it is not 200 */
  status: number;
  /** holds answers back for so long, ms */
  delayMs: number;
  /** how much a vector says of a text's form instead of its words, 0 to 1 */
  formShare: number;
  close(): Promise<void>;
}

export async function startEmbedStub(): Promise<EmbedStub> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { texts } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { texts: string[] };
      stub.asked.push(...texts);
      const answer = (): void => {
        response.writeHead(stub.status, { "content-type": "application/json" });
        response.end(
          stub.status === 200
            ? JSON.stringify({
                embeddings: texts.map((text) => stubVector(text, stub.formShare)),
                model: "stub",
              })
            : "",
        );
      };
      if (stub.delayMs === 0) answer();
      else setTimeout(answer, stub.delayMs).unref();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stub: EmbedStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/embed`,
    asked: [],
    status: 200,
    delayMs: 0,
    formShare: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return stub;
}
