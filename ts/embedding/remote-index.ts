// A service that keeps the vectors itself: /index, /search, /remove and /purge beside /embed. It is given texts
// under an agent's name and answers with refs and cosines, which are read as foreign input.

import { createHash } from "node:crypto";
import { CircuitBreaker } from "./circuit-breaker.js";
import { EmbeddingError } from "./failure.js";
import { type Endpoint, parseEndpoint, postJson } from "./post-json.js";

export interface RemoteIndexOptions {
  /** http or https, its path ends in `/embed`; user, password and query go along to the other routes */
  readonly url: string;
  /** of one `/index`, `/remove` or `/purge` */
  readonly indexTimeoutMs: number;
  /** milliseconds */
  readonly now: () => number;
}

/** `ref` as it was pushed (`mem:12`), `score` a cosine from -1 to 1. */
export interface RemoteHit {
  readonly ref: string;
  readonly score: number;
}

type Route = "index" | "search" | "remove" | "purge";

const MAX_REF_CHARS = 64;
/** Float32 arithmetic takes cosines a little past 1. */
const ROUNDING = 1e-3;

export class RemoteIndex {
  readonly #options: RemoteIndexOptions;
  /** One for questions and one for writes: a service may answer the ones and fail at the others. */
  readonly #breakers: Readonly<Record<"reads" | "writes", CircuitBreaker>>;
  readonly #closing = new AbortController();
  #lastFailure: EmbeddingError | null = null;
  /** answered as it should at least once: a refusal is about the texts then */
  #works = false;

  constructor(options: RemoteIndexOptions) {
    this.#options = options;
    this.#breakers = { reads: new CircuitBreaker(options.now), writes: new CircuitBreaker(options.now) };
  }

  /** A name for the service, made of its address without user, password and query. */
  get name(): string {
    const { origin, pathname } = new URL(this.#options.url);
    return createHash("sha256").update(`${origin}${pathname}`).digest("hex").slice(0, 16);
  }

  /** The agent's nearest texts, best first. Rejects with `embedding_failed`. */
  async search(
    agentId: string,
    query: string,
    options: { readonly limit: number; readonly minSimilarity: number; readonly timeoutMs: number },
  ): Promise<RemoteHit[]> {
    const { limit, minSimilarity, timeoutMs } = options;
    const body = { namespace: namespaceOf(agentId), query, limit, min_similarity: minSimilarity };
    return this.#post("search", body, timeoutMs, readHits);
  }

  /** Puts these texts in, in the place of older ones under the same ref. Rejects with `embedding_failed`. */
  async index(
    agentId: string,
    items: readonly { readonly ref: string; readonly text: string }[],
  ): Promise<void> {
    const wire = items.map(({ ref, text }) => ({ id: ref, text }));
    await this.#write("index", { namespace: namespaceOf(agentId), items: wire });
  }

  async remove(agentId: string, refs: readonly string[]): Promise<void> {
    await this.#write("remove", { namespace: namespaceOf(agentId), ids: refs });
  }

  /** Removes everything of the agent. */
  async purge(agentId: string): Promise<void> {
    await this.#write("purge", { namespace: namespaceOf(agentId) });
  }

  #write(route: Route, body: object): Promise<void> {
    return this.#post(route, body, this.#options.indexTimeoutMs, readReceipt);
  }

  /** One sentence about what fails, free of addresses and keys; null while nothing does. */
  get failure(): string | null {
    const isFailing = this.#breakers.reads.isOpen || this.#breakers.writes.isOpen;
    return isFailing ? (this.#lastFailure?.message ?? null) : null;
  }

  close(): void {
    this.#closing.abort();
  }

  async #post<T>(
    route: Route,
    body: object,
    timeoutMs: number,
    readAnswer: (answer: unknown) => T,
  ): Promise<T> {
    const { signal } = this.#closing;
    if (signal.aborted) throw new EmbeddingError("unreachable", "the vector service is closed");
    const permit = this.#breakers[route === "search" ? "reads" : "writes"].enter();
    if (permit === null) {
      const reason = this.#lastFailure?.reason ?? "unreachable";
      throw new EmbeddingError(reason, "the vector service is left alone for a while after failures");
    }
    try {
      const endpoint = endpointOf(this.#options.url, route);
      const answer = readAnswer(await postJson(endpoint, body, { timeoutMs, signal }));
      permit.succeeded();
      this.#works = true;
      return answer;
    } catch (error) {
      if (signal.aborted) {
        permit.dropped();
        throw new EmbeddingError("unreachable", "the vector service is closed");
      }
      const failure =
        error instanceof EmbeddingError
          ? new EmbeddingError(error.reason, `/${route}: ${error.message}`, error)
          : new EmbeddingError("misconfigured", `/${route}: the answer cannot be used`);
      this.#lastFailure = failure;
      if (failure.refusesTexts && this.#works) permit.dropped();
      else permit.failed();
      throw failure;
    }
  }
}

function namespaceOf(agentId: string): string {
  return `cpersona:${agentId}`;
}

function endpointOf(embedUrl: string, route: Route): Endpoint {
  const url = new URL(embedUrl);
  url.pathname = url.pathname.replace(/embed$/, route);
  const endpoint = parseEndpoint(url.href);
  if (endpoint === null) throw new EmbeddingError("misconfigured", "its address is not an http or https URL");
  return endpoint;
}

/** `{"results": [{"id": "mem:1", "score": 0.7}, ...]}`; a text twice keeps its better score. */
function readHits(answer: unknown): RemoteHit[] {
  const results = isObject(answer) ? answer["results"] : undefined;
  if (!Array.isArray(results)) throw nonsense("without results");
  const best = new Map<string, number>();
  for (const result of results as unknown[]) {
    const [ref, score] = isObject(result) ? [result["id"], result["score"]] : [];
    if (typeof ref !== "string" || ref === "" || ref.length > MAX_REF_CHARS)
      throw nonsense("with a result that has no id");
    if (typeof score !== "number" || !(Math.abs(score) <= 1 + ROUNDING))
      throw nonsense("with a score that is no cosine");
    const cosine = Math.min(1, Math.max(-1, score));
    best.set(ref, Math.max(cosine, best.get(ref) ?? -1));
  }
  return Array.from(best, ([ref, score]) => ({ ref, score })).sort((a, b) => b.score - a.score);
}

/** Writes answer with any JSON; only a plain refusal counts as one. */
function readReceipt(answer: unknown): void {
  const isRefusal = isObject(answer) && (answer["ok"] === false || typeof answer["error"] === "string");
  if (isRefusal) throw nonsense("with a refusal");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nonsense(how: string): EmbeddingError {
  return new EmbeddingError("misconfigured", `the embedding server answered ${how}`);
}
