// Kept results: one file a day and CPU, and what has changed against one of them.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { invalidArgument } from "../../errors.js";
import { isRecord } from "../../intake/draft.js";
import type { NativeCore } from "../../native/contract.js";
import { packageRoot, packageVersion } from "../../package-root.js";
import type { BenchName } from "./options.js";
import type { TableRow } from "./table.js";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly simd: string;
  readonly node: string;
  readonly version: string;
  /** of a clone; null elsewhere */
  readonly commit: string | null;
}

/** Rows by the name of their benchmark. */
export interface BenchRecord {
  readonly date: string;
  readonly machine: Machine;
  readonly benches: Readonly<Record<string, readonly TableRow[]>>;
}

export function machineOf(core: NativeCore): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    simd: core.simd,
    node: process.version,
    version: packageVersion(),
    commit: commit(),
  };
}

function commit(): string | null {
  if (!existsSync(join(packageRoot(), ".git"))) return null;
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], {
      cwd: packageRoot(),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return null;
  }
}

/** Puts the rows into today's file of this CPU below `folder`, in place of those that measured the same. */
export function keep(folder: string, name: BenchName, machine: Machine, rows: readonly TableRow[]): string {
  const date = new Date().toISOString().slice(0, 10);
  const cpu = machine.cpu
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  const path = join(folder, cpu, `${date}.json`);
  const before = existsSync(path) ? readRecord(path).benches : {};
  const measured = new Set(rows.map(identityOf));
  const others = (before[name] ?? []).filter((row) => !measured.has(identityOf(row)));
  const record: BenchRecord = { date, machine, benches: { ...before, [name]: [...others, ...rows] } };
  mkdirSync(join(folder, cpu), { recursive: true });
  writeFileSync(path, `${JSON.stringify(record, null, 2)}\n`);
  return path;
}

/** Throws `invalid_argument` for a file that is no kept result. */
export function readRecord(path: string): BenchRecord {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (isRecord(value) && isRecord(value["benches"]) && isRecord(value["machine"]))
      return value as unknown as BenchRecord;
  } catch {
    // The reason below says what is wanted.
  }
  throw invalidArgument("compare", "must be a file that --record has written");
}

/** Columns whose values are results; the others say what was measured. */
const RESULTS = new Set([
  "p50 ms",
  "p95 ms",
  "least ms",
  "GB/s",
  "of read speed",
  "recall@10",
  "per s",
  "MB",
  "stages",
]);
const PEER = /cpersona/;

function identityOf(row: TableRow): string {
  const parts = Object.entries(row).filter(([column]) => !RESULTS.has(column) && !PEER.test(column));
  return JSON.stringify(parts.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Adds to each row the ratio of its least time to the kept one: below 1 is faster than then. */
export function compared(rows: readonly TableRow[], kept: readonly TableRow[]): TableRow[] {
  const least = new Map(kept.map((row) => [identityOf(row), row["least ms"]]));
  return rows.map((row) => {
    const [now, then] = [row["least ms"], least.get(identityOf(row))];
    const ratio = typeof now === "number" && typeof then === "number" && then > 0 ? now / then : null;
    return { ...row, "ratio to kept": ratio };
  });
}

/** What a reader of the ratios has to know. */
export function noiseHint(rows: readonly TableRow[], record: BenchRecord, machine: Machine): string {
  const ratios = rows.flatMap((row) =>
    typeof row["ratio to kept"] === "number" ? [row["ratio to kept"]] : [],
  );
  if (ratios.length === 0) return `nothing in the kept result of ${record.date} was measured the same way`;
  const yardstick = rows.find((row) => row["method"] === "memory read")?.["ratio to kept"];
  const lines = [
    `ratio to kept: least time now / least time of ${record.date}; below 1 is faster. On a shared machine 0.7 to 1.4 is noise:`,
    "run again, and believe a change that stays and that its neighbours do not share.",
  ];
  if (typeof yardstick === "number")
    lines.push(`Memory itself took ${yardstick.toFixed(2)} times as long to read: divide by that.`);
  if (record.machine.cpu !== machine.cpu || record.machine.simd !== machine.simd)
    lines.push(`Kept on another machine: ${record.machine.cpu}, ${record.machine.simd}.`);
  return lines.join("\n");
}
