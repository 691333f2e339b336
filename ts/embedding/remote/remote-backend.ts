// An embedding server behind one address, asked in the way of its wire.

import type { Backend, BackendAnswer, BackendRequest } from "../backend.js";
import { EmbeddingError } from "../failure.js";
import { type Endpoint, parseEndpoint, postJson } from "../post-json.js";
import type { Wire } from "./wire.js";

export interface RemoteBackendOptions {
  readonly provider: "http" | "api";
  /** http or https; user and password become a Basic header */
  readonly url: string;
  /** sent as a bearer token; empty sends none */
  readonly key: string;
  readonly wire: Wire;
}

export class RemoteBackend implements Backend {
  readonly provider: string;
  readonly textsPerRequest = 64;
  readonly #wire: Wire;
  readonly #endpoint: Endpoint | null;

  constructor({ provider, url, key, wire }: RemoteBackendOptions) {
    this.provider = provider;
    this.#wire = wire;
    const endpoint = parseEndpoint(url);
    const isPlain = endpoint === null || key === "";
    this.#endpoint = isPlain
      ? endpoint
      : { ...endpoint, headers: { ...endpoint.headers, authorization: `Bearer ${key}` } };
  }

  problem(): EmbeddingError | null {
    return this.#endpoint === null ? noEndpoint() : null;
  }

  identity(): null {
    return null;
  }

  async ask({ texts, timeoutMs, signal }: BackendRequest): Promise<BackendAnswer> {
    if (this.#endpoint === null) throw noEndpoint();
    const answer = await postJson(this.#endpoint, this.#wire.request(texts), { timeoutMs, signal });
    return this.#wire.read(answer, texts.length);
  }

  close(): void {}
}

function noEndpoint(): EmbeddingError {
  return new EmbeddingError("misconfigured", "the embedding server's address is not an http or https URL");
}
