// The server on stdin and stdout. stdout carries protocol frames only; the end of stdin ends the process.

import type { McpServer } from "./server.js";
import { StdioTransport } from "./stdio-transport.js";

/** How long running calls may go on after stdin has ended. */
const GRACE_MS = 700;

/**
 * Serves until stdin ends, stdout breaks or a signal arrives; resolves when running calls are answered or
 * the grace is over.
 */
export async function serveStdio({ server, idle }: McpServer): Promise<void> {
  // First: what the input ends with is taken before its end is met.
  await server.connect(new StdioTransport(process.stdin, process.stdout));
  const ended = new Promise<void>((resolve) => {
    process.stdin
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
    process.stdout.on("error", () => resolve());
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  await ended;
  await Promise.race([idle(), new Promise((resolve) => setTimeout(resolve, GRACE_MS))]);
}
