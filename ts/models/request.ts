// One GET of a file: redirects followed by hand, so that a password stays with its host and the hub's own
// headers about the file are seen. Errors are one line without the address.

import { takePassword } from "../embedding/post-json.js";
import { MemoryError } from "../errors.js";

const MOST_REDIRECTS = 5;

export interface FileAnswer {
  readonly response: Response;
  /** bytes of the whole file; null when nobody says */
  readonly total: number | null;
  /** what the file must be, as the server tells; null when it does not */
  readonly hash: FileHash | null;
}

/** `git`: sha1 of a git blob, which is how the hub names small files. */
export interface FileHash {
  readonly kind: "sha256" | "git";
  readonly hex: string;
}

/** A failure that another attempt may not meet. */
export class PassingError extends MemoryError {
  constructor(message: string) {
    super("download_failed", message);
  }
}

export function downloadError(message: string): MemoryError {
  return new MemoryError("download_failed", message);
}

/** Throws `download_failed`. A status of 416, 404 or 2xx is the caller's to judge. */
export async function getFile(
  address: string,
  { start = 0, signal }: { readonly start?: number; readonly signal: AbortSignal },
): Promise<FileAnswer> {
  let url = new URL(address);
  let authorization = takePassword(url);
  let linked: { size: string | null; etag: string | null } = { size: null, etag: null };
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const response = await fetchOnce(url, { start, authorization, signal });
    const { headers, status } = response;
    linked = {
      size: linked.size ?? headers.get("x-linked-size"),
      etag: linked.etag ?? headers.get("x-linked-etag") ?? (isHub(headers) ? headers.get("etag") : null),
    };
    const location = headers.get("location");
    if (status < 300 || status >= 400 || location === null)
      return { response, total: wholeSize(response, linked.size), hash: hashOf(linked.etag) };
    await response.body?.cancel();
    const next = new URL(location, url);
    if (next.protocol !== "https:" && next.protocol !== url.protocol)
      throw downloadError("the server sends to an address without encryption, which is not followed");
    if (next.host !== url.host) authorization = null;
    url = next;
  }
  throw downloadError(`the server sends elsewhere more than ${MOST_REDIRECTS} times`);
}

async function fetchOnce(
  url: URL,
  options: { start: number; authorization: string | null; signal: AbortSignal },
): Promise<Response> {
  const { start, authorization, signal } = options;
  try {
    return await fetch(url, {
      redirect: "manual",
      signal,
      headers: {
        // A packed file has another length than the one that is asked for.
        "accept-encoding": "identity",
        ...(start === 0 ? {} : { range: `bytes=${start}-` }),
        ...(authorization === null ? {} : { authorization }),
      },
    });
  } catch (error) {
    throw connectionError(error);
  }
}

export function connectionError(error: unknown): MemoryError {
  if (error instanceof MemoryError) return error;
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const known = typeof code === "string" && /^[A-Z0-9_]+$/.test(code) ? ` (${code})` : "";
  return new PassingError(`the connection failed${known}`);
}

function wholeSize({ status, headers }: Response, linked: string | null): number | null {
  const range = /^bytes (?:\d+-\d+|\*)\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  const length = status === 200 ? headers.get("content-length") : null;
  const text = linked ?? range ?? length;
  return text === null || !/^\d{1,15}$/.test(text) ? null : Number(text);
}

/** Only the hub and its mirrors use an ETag as a hash of the content. */
function isHub(headers: Headers): boolean {
  return headers.has("x-repo-commit");
}

function hashOf(etag: string | null): FileHash | null {
  const hex = etag?.replace(/^W\//, "").replaceAll('"', "").toLowerCase() ?? "";
  if (/^[0-9a-f]{64}$/.test(hex)) return { kind: "sha256", hex };
  return /^[0-9a-f]{40}$/.test(hex) ? { kind: "git", hex } : null;
}
