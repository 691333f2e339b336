// Settings of the HTTP server.

import type { SettingReader } from "./reader.js";

export interface HttpConfig {
  /** `CPERSONA_HTTP_HOST`: address to listen on, default `127.0.0.1` */
  readonly host: string;
  /** `CPERSONA_HTTP_PORT`: default 8402; 0 takes a free one */
  readonly port: number;
  /** `CPERSONA_AUTH_TOKEN`, alias `CPERSONA_HTTP_AUTH_TOKEN`: bearer token that every call must bring */
  readonly token: string;
  /** `CPERSONA_ALLOW_UNAUTHENTICATED_HTTP`: only `true` lets the server start without a token */
  readonly allowOpen: boolean;
  /** `CPERSONA_HTTP_ALLOWED_HOSTS`: further names under which the server is reached, comma-separated */
  readonly allowedHosts: readonly string[];
  /** `CPERSONA_HTTP_MAX_BODY_BYTES`: largest request, default 4 MiB */
  readonly maxBodyBytes: number;
}

export function readHttp(read: SettingReader): HttpConfig {
  return {
    host: (read.text("CPERSONA_HTTP_HOST") ?? "127.0.0.1").trim(),
    port: read.integer("CPERSONA_HTTP_PORT", { fallback: 8402, min: 0, max: 65_535 }),
    token: read.text("CPERSONA_AUTH_TOKEN", "CPERSONA_HTTP_AUTH_TOKEN") ?? "",
    allowOpen: (read.text("CPERSONA_ALLOW_UNAUTHENTICATED_HTTP") ?? "").trim().toLowerCase() === "true",
    allowedHosts: (read.text("CPERSONA_HTTP_ALLOWED_HOSTS") ?? "")
      .split(",")
      .map((host) => host.trim().toLowerCase())
      .filter((host) => host !== ""),
    maxBodyBytes: read.integer("CPERSONA_HTTP_MAX_BODY_BYTES", { fallback: 4_194_304, min: 1024 }),
  };
}
