// A deterministic embedding server on loopback. Each word and each pair of CJK characters has a fixed random
// direction; a text is the normalised sum of its words. A few synonyms share a direction, so that "meaning
// without a common letter" can be tested. Beside `/embed` it keeps texts as a vector service does.

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const DIMENSION = 256;
const MODEL = "stub";

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
 * The unit vector of a text. Every model has its own directions, and other models may have another width. With a
 * `formShare` above 0 it also leans that much towards one direction that all questions share, or another that
 * all statements share, as contextual models do.
 */
function stubVector(text: string, { model, dimension, formShare }: StubModel): number[] {
  const words = wordVector(text, model, dimension);
  if (formShare === 0) return words;
  const form = normalised(direction(/[?？か]。?$/.test(text) ? "form: question" : "form: statement"));
  return normalised(words.map((value, i) => (1 - formShare) * value + formShare * (form[i] as number)));
}

type StubModel = Pick<EmbedStub, "model" | "dimension" | "formShare">;

function normalised(values: readonly number[]): number[] {
  const norm = Math.hypot(...values);
  return values.map((value) => value / norm);
}

function wordVector(text: string, model: string, dimension: number): number[] {
  const sum = new Array<number>(dimension).fill(0);
  const words = wordsOf(text);
  for (const word of words.length === 0 ? [`text ${text}`] : words) {
    const values = direction(model === MODEL ? word : `${model} ${word}`);
    for (let i = 0; i < dimension; i++) sum[i] = (sum[i] as number) + (values[i] as number);
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

type Route = "capabilities" | "embed" | "index" | "search" | "remove" | "purge";

interface StubRequest {
  readonly route: Route;
  // biome-ignore lint/suspicious/noExplicitAny: foreign JSON to a test
  readonly body: any;
  readonly authorization: string | undefined;
}

export interface EmbedStub {
  /** the address of its `/embed` route */
  readonly url: string;
  /** texts embedded so far */
  readonly asked: string[];
  /** every request, refused ones too */
  readonly requests: StubRequest[];
  /** what the vector service keeps: namespace -> id -> text */
  readonly namespaces: Map<string, Map<string, string>>;
  /** answers every request with this status while it is not 200 */
  status: number;
  /** the same for single routes */
  readonly statusOf: Partial<Record<Route, number>>;
  /** answers 422 to requests that hold this text */
  refuses: string | null;
  /** answers in place of the real answer while it gives one */
  // biome-ignore lint/suspicious/noExplicitAny: foreign JSON to a test
  instead: (route: Route, body: any) => unknown;
  /** holds answers back for so long, ms */
  delayMs: number;
  /** holds the answers of one route back */
  held: { readonly route: Route; readonly until: Promise<void> } | null;
  model: string;
  /** whether `/embed` says the model's name; `/capabilities` has its fingerprint anyway */
  namesModel: boolean;
  /** up to 256 */
  dimension: number;
  /** how much a vector says of a text's form instead of its words, 0 to 1 */
  formShare: number;
  close(): Promise<void>;
}

const ROUTES: readonly string[] = ["capabilities", "embed", "index", "search", "remove", "purge"];

/** `port` 0 takes a free one. */
export async function startEmbedStub(port = 0): Promise<EmbedStub> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const route = (request.url ?? "").split("?")[0]?.slice(1) as Route;
      const text = Buffer.concat(chunks).toString("utf8");
      const body = text === "" ? {} : JSON.parse(text);
      stub.requests.push({ route, body, authorization: request.headers.authorization });
      const isRefused = stub.refuses !== null && text.includes(stub.refuses);
      const wanted = isRefused ? 422 : (stub.statusOf[route] ?? stub.status);
      const status = ROUTES.includes(route) ? wanted : 404;
      const answer = (): void => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(status === 200 ? JSON.stringify(stub.instead(route, body) ?? work(route, body)) : "");
      };
      if (stub.held?.route === route) void stub.held.until.then(answer);
      else if (stub.delayMs === 0) answer();
      else setTimeout(answer, stub.delayMs).unref();
    });
  });

  // biome-ignore lint/suspicious/noExplicitAny: foreign JSON to a test
  function work(route: Route, body: any): object {
    const vector = (text: string): number[] => stubVector(text, stub);
    if (route === "embed") {
      stub.asked.push(...body.texts);
      const embeddings = body.texts.map(vector);
      return stub.namesModel ? { embeddings, model: stub.model } : { embeddings };
    }
    if (route === "capabilities") return { fingerprint: `1:${stub.model}` };
    const texts = stub.namespaces.get(body.namespace) ?? new Map<string, string>();
    stub.namespaces.set(body.namespace, texts);
    if (route === "index") for (const { id, text } of body.items) texts.set(id, text);
    if (route === "remove") for (const id of body.ids) texts.delete(id);
    if (route === "purge") stub.namespaces.delete(body.namespace);
    if (route !== "search") return { ok: true };
    const query = vector(body.query);
    const results = Array.from(texts, ([id, text]) => ({
      id,
      score: vector(text).reduce((sum, value, i) => sum + value * (query[i] as number), 0),
    }))
      .filter(({ score }) => score >= body.min_similarity)
      .sort((a, b) => b.score - a.score)
      .slice(0, body.limit);
    return { results };
  }

  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stub: EmbedStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/embed`,
    asked: [],
    requests: [],
    namespaces: new Map(),
    status: 200,
    statusOf: {},
    refuses: null,
    instead: () => undefined,
    delayMs: 0,
    held: null,
    model: MODEL,
    namesModel: true,
    dimension: DIMENSION,
    formShare: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return stub;
}
