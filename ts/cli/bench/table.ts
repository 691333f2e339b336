// Results as a table for people, and the arithmetic of times.

export type Cell = string | number | null;
export type TableRow = Readonly<Record<string, Cell>>;

/** Columns in the order in which rows first name them; numbers stand right, a missing cell is a dash. */
export function renderTable(rows: readonly TableRow[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [columns, ...rows.map((row) => columns.map((column) => show(row[column] ?? null)))];
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => (line[i] ?? "").length)));
  const isNumeric = columns.map((column) => rows.every((row) => typeof row[column] !== "string"));
  return cells
    .map((line) =>
      line
        .map((cell, i) => (isNumeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function show(cell: Cell): string {
  if (cell === null) return "-";
  if (typeof cell === "string" || Number.isInteger(cell)) return String(cell);
  return cell >= 100 ? cell.toFixed(0) : cell >= 1 ? cell.toFixed(2) : cell.toFixed(4);
}

/** Linear between neighbours; NaN for no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  return low + ((sorted[Math.ceil(at)] ?? low) - low) * (at - Math.floor(at));
}

/** Median, 95th percentile and the least, which a busy machine disturbs least, as cells. */
export function timeCells(times: readonly number[]): Record<"p50 ms" | "p95 ms" | "least ms", number> {
  return {
    "p50 ms": percentile(times, 0.5),
    "p95 ms": percentile(times, 0.95),
    "least ms": percentile(times, 0),
  };
}

/** Milliseconds of `work`, `runs` times after `warm` unmeasured ones, whose numbers lie below 0. */
export async function timed(runs: number, warm: number, work: (run: number) => unknown): Promise<number[]> {
  const out: number[] = [];
  for (let run = -warm; run < runs; run++) {
    const start = performance.now();
    await work(run);
    if (run >= 0) out.push(performance.now() - start);
  }
  return out;
}

/** Progress for people, beside the result. */
export function say(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

/** A line that stays, about what is not measured and why. */
export function remark(text: string): void {
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
  process.stderr.write(`${text}\n`);
}
