// One POST of JSON to a backend, with a time limit over the whole exchange and a size limit on the answer.
// Errors name what happened, never where: addresses can hold passwords and keys.

import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { JsonError, parseJson } from "../domain/json.js";
import { EmbeddingError } from "./failure.js";

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** 4xx codes that mean "later", not "wrong". */
const PASSING_STATUS = new Set([408, 425, 429]);
/** 4xx codes about what was sent, not about where it was sent. */
const REFUSING_STATUS = new Set([400, 413, 422]);

const STATUS_MEANINGS: Readonly<Record<number, string>> = {
  400: "refuses the request: wrong model name, or a text that is too long for it",
  401: "refuses the key",
  402: "wants to be paid first",
  403: "does not allow this key to embed",
  404: "has nothing at this address, or does not know the model",
  413: "takes no request of this size",
  429: "is asked too often, or the quota is used up",
};

export interface Endpoint {
  /** without user, password and fragment */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Splits user and password off a URL into a Basic header, so that no error can quote them. Null when it is not an
 * http or https URL.
 */
export function parseEndpoint(url: string): Endpoint | null {
  if (!URL.canParse(url)) return null;
  const parsed = new URL(url);
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") return null;
  const authorization = takePassword(parsed);
  parsed.hash = "";
  // Who names no coding takes any, says the protocol.
  const headers = { "content-type": "application/json", "accept-encoding": "identity" };
  return { address: parsed.href, headers: authorization === null ? headers : { ...headers, authorization } };
}

/** Takes user and password off a URL. Gives the header that says the same, null where there are none. */
export function takePassword(url: URL): string | null {
  const { username, password } = url;
  url.username = "";
  url.password = "";
  const pair = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64");
  return username + password === "" ? null : `Basic ${pair}`;
}

/**
 * The parsed JSON answer; without a body it is a GET. Throws `EmbeddingError`: `unreachable` for network errors, a
 * timeout or a server that is down or busy, `misconfigured` for other statuses, oversized answers and answers that
 * are not JSON.
 */
export async function postJson(
  endpoint: Endpoint,
  body: unknown,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<unknown> {
  const abort = new AbortController();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    abort.abort();
  }, options.timeoutMs);
  const giveUp = () => abort.abort();
  options.signal.addEventListener("abort", giveUp);
  if (options.signal.aborted) giveUp();
  try {
    const text = body === undefined ? null : JSON.stringify(body);
    const response = await send(endpoint, text, abort.signal);
    const { statusCode = 0 } = response;
    if (statusCode < 200 || statusCode >= 300) {
      response.destroy();
      throw badStatus(statusCode);
    }
    return readJson(await readLimited(response));
  } catch (error) {
    if (error instanceof EmbeddingError) throw error;
    if (isLate) {
      throw new EmbeddingError("unreachable", `no answer of the embedding server in ${options.timeoutMs} ms`);
    }
    throw new EmbeddingError("unreachable", `the embedding server cannot be reached${codeOf(error)}`);
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", giveUp);
  }
}

/**
 * The platform's own client, which needs a third of the time of `fetch`. It follows no redirect: that could carry
 * stored text to another host. Sockets stay open for the next request.
 */
async function send(
  { address, headers }: Endpoint,
  body: string | null,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const start = address.startsWith("https:") ? requestHttps : requestHttp;
  const method = body === null ? "GET" : "POST";
  const attempt = (): { request: ClientRequest; response: Promise<IncomingMessage> } => {
    const request = start(address, { method, headers, signal });
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      request.once("response", resolve).on("error", reject).end(body);
    });
    return { request, response };
  };
  const first = attempt();
  try {
    return await first.response;
  } catch (error) {
    // A server may close a socket in the moment in which it is used again.
    if (!first.request.reusedSocket || errorCode(error) !== "ECONNRESET") throw error;
    return await attempt().response;
  }
}

async function readLimited(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop early ends the connection.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) {
      throw new EmbeddingError("misconfigured", "the embedding server's answer is larger than 64 MiB");
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function readJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString("utf8"));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new EmbeddingError("misconfigured", `the embedding server's answer ${error.fault}`);
  }
}

function badStatus(status: number): EmbeddingError {
  const isPassing = status >= 500 || PASSING_STATUS.has(status);
  const reason = isPassing ? "unreachable" : "misconfigured";
  const meaning =
    status >= 300 && status < 400 ? "sends elsewhere, which is not followed" : STATUS_MEANINGS[status];
  const words =
    meaning === undefined ? `answered with HTTP status ${status}` : `${meaning} (HTTP status ${status})`;
  return new EmbeddingError(reason, `the embedding server ${words}`, {
    refusesTexts: REFUSING_STATUS.has(status),
  });
}

/** ` (ECONNREFUSED)`; the message beside that code may quote the address, so it is left out. */
function codeOf(error: unknown): string {
  const code = errorCode(error);
  return code !== null && /^[A-Z0-9_]+$/.test(code) ? ` (${code})` : "";
}

function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

/** A stray `%` in a password is kept as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
