// `bench scan`: what does the nearest ten of so many vectors cost, by each method, beside the peers that
// Python has here, on the same vectors and in the same run.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NativeCore, SearchMethod, VectorIndex } from "../../native/contract.js";
import { packageRoot } from "../../package-root.js";
import { percentile, type TableRow, timed } from "./table.js";
import { asRows } from "./vectors.js";

export interface ScanOptions {
  readonly core: NativeCore;
  /** the plain twin, measured beside the core up to this many rows */
  readonly twin: NativeCore | null;
  readonly rows: number;
  readonly dimension: number;
  /** rows × dimension, unit rows */
  readonly vectors: Float32Array;
  /** queries × dimension, unit rows */
  readonly queries: Float32Array;
  /** the direction that all vectors share, as an embedder's card gives it; null for random ones */
  readonly centre: Float32Array | null;
  /** Python with numpy, and faiss-cpu and usearch where they are; null leaves the peers out */
  readonly python: string | null;
  readonly say: (text: string) => void;
}

const METHODS: readonly SearchMethod[] = ["exact", "int8-raw", "bits-raw", "int8", "bits", "auto"];
const LIMIT = 10;
const RUNS = 30;

/** Bytes that a method must read of one row. */
function rowBytes(method: SearchMethod, dimension: number): number {
  if (method === "exact") return dimension * 4;
  return method.startsWith("int8") ? dimension : dimension / 8;
}

export async function benchScan(options: ScanOptions): Promise<TableRow[]> {
  const { core, twin, rows, dimension } = options;
  const folder = mkdtempSync(join(tmpdir(), "cpersona-bench-"));
  try {
    const index = fill(core, core.kind === "native" ? join(folder, "index") : null, options);
    const truth = searchAll(index, "exact", options);
    const out: TableRow[] = [];
    for (const method of METHODS) {
      options.say(`${rows} × ${dimension}: ${method}`);
      out.push(await measure(index, `ours ${method} (${core.simd})`, method, truth, options));
    }
    index.close();
    if (twin !== null) {
      const plain = fill(twin, null, options);
      out.push(await measure(plain, "ours exact (typescript)", "exact", truth, options));
      plain.close();
    }
    return [...out, ...peers(folder, truth, options)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fill(
  core: NativeCore,
  folder: string | null,
  { vectors, rows, dimension, centre }: ScanOptions,
): VectorIndex {
  const index = core.openVectorIndex({
    folder,
    dimension,
    identity: new Uint8Array(16).fill(1),
    centre,
  });
  const batch = 10_000;
  index.lock();
  for (let from = 0; from < rows; from += batch) {
    index.append(
      asRows(
        vectors.subarray(from * dimension, Math.min(rows, from + batch) * dimension),
        dimension,
        from + 1,
      ),
    );
  }
  index.publish(1);
  index.unlock();
  return index;
}

function queryAt({ queries, dimension }: ScanOptions, run: number): Float32Array {
  const count = queries.length / dimension;
  return queries.subarray((run % count) * dimension, ((run % count) + 1) * dimension);
}

function search(index: VectorIndex, method: SearchMethod, query: Float32Array): Float64Array {
  return index.search({
    query,
    scopes: null,
    near: null,
    far: null,
    nearLimit: LIMIT,
    farLimit: 0,
    floor: -1,
    masked: null,
    only: null,
    extra: null,
    method,
  }).keys;
}

function searchAll(index: VectorIndex, method: SearchMethod, options: ScanOptions): Set<number>[] {
  return Array.from({ length: RUNS }, (_, run) => new Set(search(index, method, queryAt(options, run))));
}

async function measure(
  index: VectorIndex,
  name: string,
  method: SearchMethod,
  truth: readonly Set<number>[],
  options: ScanOptions,
): Promise<TableRow> {
  const times = await timed(RUNS, 3, (run) => search(index, method, queryAt(options, run)));
  const found = searchAll(index, method, options);
  return row(
    name,
    times,
    recallOf(found, truth),
    rowBytes(method, options.dimension) * options.rows,
    options,
  );
}

function recallOf(found: readonly ReadonlySet<number>[], truth: readonly ReadonlySet<number>[]): number {
  const shares = truth.map((keys, i) => [...keys].filter((key) => found[i]?.has(key)).length / keys.size);
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

function row(
  name: string,
  times: readonly number[],
  recall: number | null,
  bytes: number,
  { rows, dimension }: ScanOptions,
): TableRow {
  const median = percentile(times, 0.5);
  return {
    method: name,
    rows,
    dim: dimension,
    "p50 ms": median,
    "p95 ms": percentile(times, 0.95),
    "GB/s": bytes / median / 1e6,
    "recall@10": recall,
  };
}

interface PeerResult {
  readonly name: string;
  readonly times: readonly number[];
  /** 0-based rows of each query's ten nearest */
  readonly found: readonly (readonly number[])[];
  readonly bytes: number;
}

/** The peers read the same vectors from a file and print their times. */
function peers(folder: string, truth: readonly Set<number>[], options: ScanOptions): TableRow[] {
  if (options.python === null) return [];
  const bytes = (array: Float32Array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  writeFileSync(join(folder, "vectors.f32"), bytes(options.vectors));
  writeFileSync(join(folder, "queries.f32"), bytes(options.queries));
  const script = join(packageRoot(), "bench", "peers", "scan.py");
  const result = join(folder, "peers.json");
  options.say(`${options.rows} × ${options.dimension}: peers`);
  execFileSync(options.python, [script, folder, String(options.dimension), String(RUNS), result], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const found = JSON.parse(readFileSync(result, "utf8")) as PeerResult[];
  return found.map((peer) => {
    const keys = peer.found.map((ids) => new Set(ids.map((id) => (id + 1) * 2)));
    return row(peer.name, peer.times, recallOf(keys, truth), peer.bytes, options);
  });
}
