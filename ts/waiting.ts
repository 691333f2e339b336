// Who wants to know that a call waits for its turn to write. It reaches the queue beside the arguments: every
// capability may write, and none has anything else to do with waiting.

import { AsyncLocalStorage } from "node:async_hooks";

/** Told about once a second: milliseconds waited so far. */
export type OnWait = (waitedMs: number) => void;

const listeners = new AsyncLocalStorage<OnWait>();

/** Runs `work`; while a write in it waits, `onWait` is told. */
export function tellingOfWaits<T>(onWait: OnWait | undefined, work: () => T): T {
  return onWait === undefined ? work() : listeners.run(onWait, work);
}

/** Whoever is to be told in the work that runs now. */
export function waitListener(): OnWait | undefined {
  return listeners.getStore();
}
