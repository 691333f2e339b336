// `bench recall`: stores so many rows through the service and asks five kinds of questions.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemory } from "../../open-memory.js";
import { makeCorpus, type QueryKind } from "./corpus.js";
import { percentile, type TableRow, timed } from "./table.js";

export interface RecallBenchOptions {
  readonly rows: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly say: (text: string) => void;
}

const RUNS = 40;

export async function benchRecall({ rows, environment, say }: RecallBenchOptions): Promise<TableRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "cpersona-bench-"));
  const memory = await openMemory({ databasePath: join(folder, "memory.db"), environment });
  try {
    const corpus = makeCorpus(7);
    const stores: number[] = [];
    for (let i = 0; i < rows; i++) {
      if (i % 5000 === 0) say(`storing ${i} of ${rows}`);
      const start = performance.now();
      await memory.store({ content: corpus.text(i), msgId: `m${i}`, agentId: "bench" });
      stores.push(performance.now() - start);
    }
    await memory.maintain();
    const last = stores.slice(-Math.max(10, Math.floor(rows / 10)));
    const out: TableRow[] = [
      { what: "store", rows, "p50 ms": percentile(stores, 0.5), "p95 ms": percentile(stores, 0.95) },
      { what: "store, last tenth", rows, "p50 ms": percentile(last, 0.5), "p95 ms": percentile(last, 0.95) },
    ];
    for (const [kind, query] of Object.entries(corpus.queries) as [QueryKind, (run: number) => string][]) {
      say(`recall: ${kind}`);
      const times = await timed(RUNS, 5, (run) => memory.recall({ query: query(run), agentId: "bench" }));
      out.push({
        what: `recall, ${kind}`,
        rows,
        "p50 ms": percentile(times, 0.5),
        "p95 ms": percentile(times, 0.95),
      });
    }
    return out;
  } finally {
    await memory.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
