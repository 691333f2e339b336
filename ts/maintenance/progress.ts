// How far a long piece of work is, for a bar or for MCP progress notifications.

/** `total` may be 0 for nothing to do; `done` never falls. */
export type Progress = (done: number, total: number) => void;

/** What the work comes to, or `late` when that takes longer than `ms`. */
export async function within<T>(ms: number, work: Promise<T>, late: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
