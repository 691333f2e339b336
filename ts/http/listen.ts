// Starts and stops listening. Loopback unless told otherwise, and never open by accident.

import { serve } from "@hono/node-server";
import { MemoryError } from "../errors.js";
import { type AppOptions, createApp } from "./app.js";

export interface HttpServer {
  readonly port: number;
  /** Stops taking calls and waits for running ones, for a short while. */
  close(): Promise<void>;
}

const GRACE_MS = 2000;

/** Throws `invalid_setting` without a token, and when address or port cannot be had. */
export async function listen(options: AppOptions): Promise<HttpServer> {
  const { config } = options;
  if (config.token === "" && !config.allowOpen && (options.access ?? null) === null) {
    throw new MemoryError(
      "invalid_setting",
      "the HTTP server does not start open: set CPERSONA_AUTH_TOKEN or CPERSONA_ACL_FILE, or CPERSONA_ALLOW_UNAUTHENTICATED_HTTP=true on a machine where everybody may read and write the memories",
      { field: "CPERSONA_AUTH_TOKEN" },
    );
  }
  const app = createApp(options);
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: config.host, port: config.port }, ({ port }) =>
      resolve({
        port,
        close: () =>
          new Promise((done) => {
            const timer = setTimeout(() => {
              if ("closeAllConnections" in server) server.closeAllConnections();
            }, GRACE_MS);
            server.close(() => {
              clearTimeout(timer);
              done();
            });
            if ("closeIdleConnections" in server) server.closeIdleConnections();
          }),
      }),
    );
    server.on("error", (error: NodeJS.ErrnoException) =>
      reject(
        new MemoryError(
          "invalid_setting",
          error.code === "EADDRINUSE"
            ? `port ${config.port} is taken: set CPERSONA_HTTP_PORT to another one`
            : `cannot listen on ${config.host} port ${config.port} (${error.code ?? "unknown"}): check CPERSONA_HTTP_HOST and CPERSONA_HTTP_PORT`,
          { field: "CPERSONA_HTTP_PORT", cause: error },
        ),
      ),
    );
  });
}
