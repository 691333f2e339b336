// Who is calling: the bearer token of a request, and whether it is the one that everybody has. With an access
// list the token names a client instead, see `app.ts`.

import { createHash, timingSafeEqual } from "node:crypto";

/** The token of the `Authorization` headers; null for none, several, or another scheme. */
export function bearerToken(headers: readonly string[]): string | null {
  const [header] = headers;
  if (header === undefined || headers.length > 1) return null;
  return /^bearer +(.+)$/i.exec(header.trim())?.[1] ?? null;
}

/** Whether the headers bring the one token; an empty token lets everybody in. */
export function isAuthorised(headers: readonly string[], token: string): boolean {
  if (token === "") return true;
  const given = bearerToken(headers);
  // Header bytes arrive as Latin-1, the setting is UTF-8: both are compared as bytes.
  return given !== null && isSame(Buffer.from(given, "latin1"), Buffer.from(token, "utf8"));
}

/** Takes the same time for any pair of values, whatever their lengths. */
function isSame(a: Buffer, b: Buffer): boolean {
  const digest = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest();
  return timingSafeEqual(digest(a), digest(b));
}
