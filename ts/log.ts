// Diagnostics go to stderr only: stdout belongs to the protocol.

export type LogLevel = "error" | "warn" | "info" | "debug";
const ORDER: Record<LogLevel, number> = { error: 0, warn: 1, info: 2, debug: 3 };
let threshold: LogLevel = "warn";

/** Sets the most detailed level that is written. Default `warn`. */
export function setLogLevel(level: LogLevel): void {
  threshold = level;
}

/** Writes one line to stderr when `level` is within the threshold. */
export function log(level: LogLevel, message: string): void {
  if (ORDER[level] <= ORDER[threshold]) process.stderr.write(`cpersona-native ${level}: ${message}\n`);
}
