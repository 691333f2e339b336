// Progress of a long write: a bar on a terminal, a line now and then elsewhere.
import type { Screen } from "../style.js";

/** Told about each finished draft. */
export interface Progress {
  advance(done: number): void;
  end(done: number): void;
}

const LINE_EVERY_MS = 5_000;

/** Starts showing progress towards `total`, which may turn out too small. */
export async function startProgress(
  stream: NodeJS.WriteStream,
  screen: Screen,
  total: number,
): Promise<Progress> {
  const started = performance.now();
  const rate = (done: number) => Math.round(done / Math.max((performance.now() - started) / 1000, 0.001));
  if (!screen.live) return plainProgress(stream, total, started, rate);
  const { default: bars } = await import("cli-progress");
  const bar = new bars.SingleBar(
    {
      stream,
      format: "  storing {bar} {value}/{total} · {rate}/s · {eta_formatted} left",
      barsize: 28,
      hideCursor: true,
      clearOnComplete: true,
      gracefulExit: false,
    },
    bars.Presets.shades_classic,
  );
  bar.start(total, 0, { rate: 0 });
  return {
    advance(done) {
      if (done > bar.getTotal()) bar.setTotal(done);
      bar.update(done, { rate: rate(done) });
    },
    end(done) {
      bar.update(done, { rate: rate(done) });
      bar.stop();
    },
  };
}

function plainProgress(
  stream: NodeJS.WriteStream,
  total: number,
  started: number,
  rate: (done: number) => number,
): Progress {
  let spoken = started;
  return {
    advance(done) {
      const now = performance.now();
      if (now - spoken < LINE_EVERY_MS) return;
      spoken = now;
      const left = Math.ceil(((total - done) / Math.max(done, 1)) * ((now - started) / 1000));
      stream.write(
        `  storing ${done}/${Math.max(total, done)} · ${rate(done)}/s · ${Math.max(left, 0)} s left\n`,
      );
    },
    end() {},
  };
}
