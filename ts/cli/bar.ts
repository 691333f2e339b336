// A progress bar on a terminal, nothing elsewhere. On stderr: stdout may be a pipe to somewhere.

import { MultiBar } from "cli-progress";

export interface Bar {
  readonly progress: (done: number, total: number) => void;
  end(): void;
}

/** `label` says what is going on, `what` counts. */
export function startBar(label: string, what: string): Bar {
  const stream = process.stderr;
  if (stream.isTTY !== true) return { progress: () => {}, end: () => {} };
  const bars = new MultiBar({
    stream,
    format: `${label} {bar} {value}/{total} ${what} · {eta_formatted} left`,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    barsize: 28,
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: false,
  });
  let bar: ReturnType<MultiBar["create"]> | undefined;
  return {
    progress: (done, total) => {
      bar ??= bars.create(total, 0);
      bar.setTotal(total);
      bar.update(done);
    },
    end: () => bars.stop(),
  };
}
