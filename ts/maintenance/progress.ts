// How far a long piece of work is, for a bar or for MCP progress notifications.

/** `total` may be 0 for nothing to do; `done` never falls. */
export type Progress = (done: number, total: number) => void;

/** Lets calls of other people run in between. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
