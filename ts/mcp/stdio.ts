// The server on stdin and stdout. stdout carries protocol frames only; the end of stdin ends the process.

import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { McpServer } from "./server.js";

/** How long running calls may go on after stdin has ended. */
const GRACE_MS = 700;

/**
 * Serves until stdin ends, stdout breaks or a signal arrives; resolves when running calls are answered or
 * the grace is over.
 */
export async function serveStdio({ server, idle }: McpServer): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    process.stdin
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
    process.stdout.on("error", () => resolve());
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await Promise.race([idle(), new Promise((resolve) => setTimeout(resolve, GRACE_MS))]);
}
