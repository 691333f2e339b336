// Settings of the search by meaning in a service of its own, and of the copies that stay here beside it.

import type { SettingReader } from "./reader.js";

export interface RemoteConfig {
  /**
   * `CPERSONA_VECTOR_SEARCH_MODE`: `local` (default), or `remote`: `/index`, `/search`, `/remove` and `/purge`
   * beside the `/embed` of embedding mode http keep the vectors. `local` where there is no such address.
   */
  readonly mode: "local" | "remote";
  /** `CPERSONA_STORE_BLOB`: vectors are kept in the database in mode `remote` too, default true */
  readonly storesVectors: boolean;
  /** `CPERSONA_REMOTE_SEARCH_TIMEOUT_SECS`: a whole search at the service, default 5, up to 3600 */
  readonly searchTimeoutMs: number;
  /** `CPERSONA_REMOTE_INDEX_TIMEOUT_SECS`: one `/index`, `/remove` or `/purge`, default 10, up to 3600 */
  readonly indexTimeoutMs: number;
}

const MODE = "CPERSONA_VECTOR_SEARCH_MODE";

export function readRemote(
  read: SettingReader,
  embedding: { readonly mode: string; readonly url: string },
): RemoteConfig {
  const wanted = read.choice(MODE, ["local", "remote"], "local");
  const refusal = wanted === "local" ? null : refusalOf(embedding);
  if (refusal !== null) read.warnings.push(`${MODE} remote needs ${refusal}; local is used`);
  const mode = refusal === null ? wanted : "local";
  const storesVectors = read.boolean("CPERSONA_STORE_BLOB", true) || mode === "local";
  const seconds = (name: string, fallback: number): number =>
    read.number(name, { fallback, min: 0.001, max: 3600 }) * 1000;
  return {
    mode,
    storesVectors,
    searchTimeoutMs: seconds("CPERSONA_REMOTE_SEARCH_TIMEOUT_SECS", 5),
    indexTimeoutMs: seconds("CPERSONA_REMOTE_INDEX_TIMEOUT_SECS", 10),
  };
}

/** What is missing; the address may hold a key, so it is not named. */
function refusalOf({ mode, url }: { readonly mode: string; readonly url: string }): string | null {
  if (mode !== "http") return "CPERSONA_EMBEDDING_MODE http";
  const isEmbed = URL.canParse(url) && new URL(url).pathname.endsWith("/embed");
  return isEmbed ? null : "a CPERSONA_EMBEDDING_URL whose path ends in /embed";
}
