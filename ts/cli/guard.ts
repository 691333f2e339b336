// The last net under a process that serves or works long: an error that nobody caught is told, and the process
// goes on. Nothing relies on it: work in the background runs under a supervisor.

import { log } from "../log.js";

/** Errors of streams whose other end is gone: there is nobody to tell. */
const GONE = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED"]);

/** Call once, before anything else. Whoever cannot write to stdout any more ends quietly. */
export function guardProcess(): void {
  process.on("uncaughtException", (error) => tell("an error", error));
  process.on("unhandledRejection", (reason) => tell("a rejection", reason));
  // Telling about a stderr that is gone would fail the same way, for ever.
  process.stderr.on("error", () => {});
}

/** For commands that print: a reader that has seen enough, such as `head`, is no fault. */
export function endWithStdout(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (GONE.has(error.code ?? "")) process.exit();
    tell("an error", error);
  });
}

function tell(what: string, thrown: unknown): void {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  log("error", `${what} that nobody caught, the process goes on: ${error.message.split("\n")[0]}`);
  log("debug", error.stack ?? "no stack");
}
