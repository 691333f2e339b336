// What an `/embed` server says of itself at `/capabilities`: a fingerprint of its model, for servers whose
// answers name none. Two models of one width are told apart by nothing else.

import { createHash } from "node:crypto";
import { EmbeddingError } from "./failure.js";
import { parseEndpoint, postJson } from "./post-json.js";

export class Capabilities {
  readonly #url: string;

  /** @param url http or https, its path ends in `/embed` */
  constructor(url: string) {
    this.#url = url;
  }

  /**
   * A short name of what the server's fingerprint stands for; null where it has none. Rejects with
   * `unreachable` when nobody answers: that says nothing about the model.
   */
  async modelName(options: {
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  }): Promise<string | null> {
    const url = new URL(this.#url);
    url.pathname = url.pathname.replace(/embed$/, "capabilities");
    const endpoint = parseEndpoint(url.href);
    if (endpoint === null) return null;
    try {
      return readFingerprint(await postJson(endpoint, undefined, options));
    } catch (error) {
      if (error instanceof EmbeddingError && error.reason === "unreachable") throw error;
      return null;
    }
  }
}

/** `{"fingerprint": string | null, ...}`; null when the server cannot vouch for all of its parts. */
function readFingerprint(answer: unknown): string | null {
  if (typeof answer !== "object" || answer === null) return null;
  const { fingerprint } = answer as { fingerprint?: unknown };
  if (typeof fingerprint !== "string" || fingerprint === "") return null;
  return `model-${createHash("sha256").update(fingerprint).digest("hex").slice(0, 16)}`;
}

/** Null where the address has no such route beside it. */
export function capabilitiesOf({
  mode,
  url,
}: {
  readonly mode: string;
  readonly url: string;
}): Capabilities | null {
  const isEmbed = mode === "http" && URL.canParse(url) && new URL(url).pathname.endsWith("/embed");
  return isEmbed ? new Capabilities(url) : null;
}
