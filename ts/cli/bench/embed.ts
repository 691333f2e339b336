// `bench embed`: what does a vector of the embedded default cost, natively and in TypeScript?

import type { NativeCore } from "../../native/contract.js";
import { percentile, type TableRow, timed } from "./table.js";

const TEXTS = {
  "short query": "which port is staging on",
  "dialogue turn":
    "Caroline: I went to the support group yesterday and it was so powerful, I felt accepted and it gave me courage to keep going and tell my story",
  "japanese sentence":
    "来週の金曜日までに検索サーバーの移行計画をまとめて、障害時の手順も書いておくことにした。",
} as const;

/** Texts embedded in one measured call, so that the clock's own cost disappears. */
const REPEAT = 100;

export async function benchEmbed(cores: readonly NativeCore[], tablePath: string): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  for (const core of cores) {
    const opening = await timed(5, 1, () => core.openStaticTable(tablePath));
    const table = core.openStaticTable(tablePath);
    rows.push({
      what: "open the table",
      core: core.simd,
      "p50 ms": percentile(opening, 0.5),
      "p95 ms": percentile(opening, 0.95),
    });
    for (const [what, text] of Object.entries(TEXTS)) {
      const times = await timed(30, 5, () => {
        for (let i = 0; i < REPEAT; i++) table.embed([text]);
      });
      const each = times.map((time) => time / REPEAT);
      rows.push({ what, core: core.simd, "p50 ms": percentile(each, 0.5), "p95 ms": percentile(each, 0.95) });
    }
  }
  return rows;
}
