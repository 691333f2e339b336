// MCP progress notifications, for calls whose client asked for them.

import type { CallToolRequest, ProgressToken, ServerNotification } from "@modelcontextprotocol/sdk/types.js";

/** A client that draws a bar needs no more. */
const EVERY_MS = 100;

export interface ProgressSender {
  /** undefined when the client sent no progress token */
  readonly report: ((done: number, total: number) => void) | undefined;
  /** tells that a write waits for its turn; undefined likewise */
  readonly waiting: ((waitedMs: number) => void) | undefined;
  /** Resolves when everything is on its way: a client listens until the answer. */
  settled(): Promise<void>;
}

export function progressSender(
  request: CallToolRequest,
  extra: { sendNotification(notification: ServerNotification): Promise<void> },
): ProgressSender {
  const token: ProgressToken | undefined = request.params._meta?.progressToken;
  if (token === undefined) return { report: undefined, waiting: undefined, settled: async () => {} };
  let sending: Promise<void> = Promise.resolve();
  let last = -1;
  let sentAt = 0;
  const send = (progress: { progress: number; total?: number; message?: string }): void => {
    const params = { progressToken: token, ...progress };
    const sent = extra.sendNotification({ method: "notifications/progress", params }).catch(() => {});
    sending = sending.then(() => sent);
  };
  const report = (done: number, total: number): void => {
    const now = performance.now();
    // The protocol wants every number to be larger than the one before.
    if (done <= last || (done < total && now - sentAt < EVERY_MS)) return;
    last = done;
    sentAt = now;
    send({ progress: done, total });
  };
  const waiting = (waitedMs: number): void => {
    // Larger than before, and less than a step of the work itself.
    last = Math.max(last, 0) + 0.001;
    const seconds = Math.round(waitedMs / 1000);
    send({ progress: last, message: `another process writes to the database; waiting for ${seconds} s` });
  };
  return { report, waiting, settled: () => sending };
}
