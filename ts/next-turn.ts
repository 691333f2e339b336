// Long work on the one thread there is goes on in turns.

/** Lets everything else run that is due: other calls, requests that are about to leave. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
