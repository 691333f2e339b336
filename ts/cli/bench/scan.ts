// `bench scan`: what do the nearest ten of so many vectors cost, by each method, beside the peers that Python
// has here, on the same vectors and in the same run, and beside the speed at which memory can be read at all?

import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NativeCore, SearchMethod, VectorIndex, VectorSearchRequest } from "../../native/contract.js";
import { packageRoot } from "../../package-root.js";
import { say, type TableRow, timeCells, timed } from "./table.js";
import { asRows, SCOPES, timeOf, type VectorMaker } from "./vectors.js";

export interface ScanOptions {
  readonly core: NativeCore;
  /** the plain twin, measured beside the core up to this many rows */
  readonly twin: NativeCore | null;
  readonly rows: number;
  readonly maker: VectorMaker;
  readonly threads: readonly number[];
  readonly runs: number;
  /** Python with numpy, and faiss-cpu and usearch where they are; null leaves the peers out */
  readonly python: string | null;
  /** read for the yardstick: more than the caches of processors hold */
  readonly readBytes: number;
}

const METHODS: readonly SearchMethod[] = ["exact", "int8-raw", "bits-raw", "int8", "bits", "auto"];
const LIMIT = 10;
const WARM = 3;
/** More than a line has: everything is compared with it. */
const READ_RUNS = 40;
const YARDSTICK = "memory read";
const BATCH_ROWS = 10_000;
const QUERY_SEED = 2;
const FIRST_SEED = 1000;
const WINDOW = 10_000;

/** Bytes that a method must read of one row; null where the method decides itself. */
function rowBytes(method: SearchMethod, dimension: number): number | null {
  if (method === "auto") return null;
  if (method === "exact") return dimension * 4;
  return method.startsWith("int8") ? dimension : dimension / 8;
}

export async function benchScan(options: ScanOptions): Promise<TableRow[]> {
  const { core, twin, maker, threads, python } = options;
  const folder = mkdtempSync(join(tmpdir(), "cpersona-bench-"));
  try {
    const queries = maker.make(options.runs, QUERY_SEED);
    const file = python === null ? null : openSync(join(folder, "vectors.f32"), "w");
    const index = await fill(core, core.kind === "native" ? join(folder, "index") : null, options, file);
    if (file !== null) closeSync(file);
    const bench = new ScanBench(options, queries, await readSpeeds(options));
    const truth = bench.found(index, { method: "exact" });
    const out: TableRow[] = bench.yardsticks();
    for (const method of METHODS)
      for (const count of threads)
        out.push(await bench.line(index, method, { method, threads: count }, truth));
    out.push(...(await bench.parts(index)));
    index.close();
    if (twin !== null) {
      const plain = await fill(twin, null, options, null);
      out.push(await bench.line(plain, "exact (typescript)", { method: "exact" }, truth));
      plain.close();
    }
    if (python !== null) out.push(...peers(python, folder, queries, truth, bench));
    return out;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the rows into an index and, for the peers, into a file, batch by batch. */
async function fill(
  core: NativeCore,
  folder: string | null,
  { maker, rows }: ScanOptions,
  file: number | null,
): Promise<VectorIndex> {
  const { dimension } = maker;
  const index = core.openVectorIndex({ folder, dimension, identity: new Uint8Array(16).fill(1) });
  index.lock();
  for (let from = 0; from < rows; from += BATCH_ROWS) {
    say(`${rows} × ${dimension}: made ${from}`);
    const vectors = maker.make(Math.min(BATCH_ROWS, rows - from), FIRST_SEED + from);
    index.append(asRows(vectors, dimension, from + 1));
    if (file !== null) writeAll(file, bytesOf(vectors));
  }
  index.publish(1);
  // As a server does when rows have multiplied.
  await index.compact();
  index.unlock();
  return index;
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

/** Times of reading memory and doing nothing else, by number of threads. */
async function readSpeeds({ core, threads, readBytes }: ScanOptions): Promise<Map<number, number[]>> {
  const { xorWords } = core;
  if (xorWords === null) return new Map();
  say("reading memory");
  const bytes = Buffer.allocUnsafeSlow(readBytes).fill(2);
  const out = new Map<number, number[]>();
  for (const count of threads) out.set(count, await timed(READ_RUNS, 1, () => xorWords(bytes, count)));
  return out;
}

type Ask = Partial<VectorSearchRequest> & { readonly method: SearchMethod };

class ScanBench {
  readonly #options: ScanOptions;
  readonly #queries: Float32Array;
  readonly #read: ReadonlyMap<number, readonly number[]>;

  constructor(options: ScanOptions, queries: Float32Array, read: ReadonlyMap<number, readonly number[]>) {
    this.#options = options;
    this.#queries = queries;
    this.#read = read;
  }

  yardsticks(): TableRow[] {
    return Array.from(this.#read, ([threads, times]) =>
      this.cells(YARDSTICK, threads, times, null, this.#options.readBytes),
    );
  }

  async line(index: VectorIndex, name: string, ask: Ask, truth: readonly Set<number>[]): Promise<TableRow> {
    const { rows, maker, runs } = this.#options;
    say(`${rows} × ${maker.dimension}: ${name}`);
    const times = await timed(runs, WARM, (run) => this.#search(index, ask, Math.max(run, 0)));
    const bytes = rowBytes(ask.method, maker.dimension);
    const isPart = ask.near !== undefined || ask.scopes !== undefined;
    return this.cells(
      name,
      ask.threads ?? 1,
      times,
      recallOf(this.found(index, ask), truth),
      bytes === null || isPart ? null : bytes * rows,
    );
  }

  /** The default search with conditions: a part of the rows is never dearer than all of them, looked up the same way. */
  async parts(index: VectorIndex): Promise<TableRow[]> {
    const { rows } = this.#options;
    const oldest = Math.max(1, rows - WINDOW + 1);
    const scopes = (count: number) => ({ scopes: Uint32Array.from({ length: count }, (_, i) => i + 1) });
    const asks: [string, Partial<VectorSearchRequest>][] = [
      [`auto, all ${SCOPES} scopes`, scopes(SCOPES)],
      [`auto, half of the scopes`, scopes(SCOPES / 2)],
      [`auto, one scope of ${SCOPES}`, scopes(1)],
      [`auto, newest ${WINDOW}`, { near: Float64Array.of(timeOf(oldest), 0, timeOf(oldest), 0) }],
    ];
    const out: TableRow[] = [];
    for (const [name, ask] of asks) {
      const truth = this.found(index, { ...ask, method: "exact" });
      out.push(await this.line(index, name, { ...ask, method: "auto" }, truth));
    }
    return out;
  }

  /** Keys of the ten nearest, for each query. */
  found(index: VectorIndex, ask: Ask): Set<number>[] {
    return Array.from({ length: this.#options.runs }, (_, run) => new Set(this.#search(index, ask, run)));
  }

  #search(index: VectorIndex, ask: Ask, run: number): Float64Array {
    const { dimension } = this.#options.maker;
    return index.search({
      query: this.#queries.subarray(run * dimension, (run + 1) * dimension),
      scopes: null,
      near: null,
      far: null,
      nearLimit: LIMIT,
      farLimit: 0,
      floor: -1,
      masked: null,
      only: null,
      extra: null,
      ...ask,
    }).keys;
  }

  /** `bytes`: what must be read for one answer; null where that is not known. */
  cells(
    method: string,
    threads: number,
    times: readonly number[],
    recall: number | null,
    bytes: number | null,
  ): TableRow {
    const { rows, maker, readBytes } = this.#options;
    const time = timeCells(times);
    const speed = bytes === null ? null : bytes / time["least ms"] / 1e6;
    const read = this.#read.get(threads);
    const readSpeed = read === undefined ? null : readBytes / timeCells(read)["least ms"] / 1e6;
    const searched = method !== YARDSTICK;
    return {
      method,
      vectors: searched ? maker.name : null,
      rows: searched ? rows : null,
      dim: searched ? maker.dimension : null,
      threads,
      ...time,
      "GB/s": speed,
      "of read speed": speed === null || readSpeed === null ? null : speed / readSpeed,
      "recall@10": recall,
    };
  }
}

function recallOf(found: readonly ReadonlySet<number>[], truth: readonly ReadonlySet<number>[]): number {
  const shares = truth.map((keys, i) => [...keys].filter((key) => found[i]?.has(key)).length / keys.size);
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

interface PeerResult {
  readonly name: string;
  readonly times: readonly number[];
  /** 0-based rows of each query's ten nearest */
  readonly found: readonly (readonly number[])[];
  readonly bytes: number;
}

/** The peers read the same vectors from a file and print their times. */
function peers(
  python: string,
  folder: string,
  queries: Float32Array,
  truth: readonly Set<number>[],
  bench: ScanBench,
): TableRow[] {
  writeFileSync(join(folder, "queries.f32"), bytesOf(queries));
  const dimension = queries.length / truth.length;
  const script = join(packageRoot(), "bench", "peers", "scan.py");
  const result = join(folder, "peers.json");
  say("peers");
  execFileSync(python, [script, folder, String(dimension), String(truth.length), result], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const found = JSON.parse(readFileSync(result, "utf8")) as PeerResult[];
  return found.map((peer) => {
    const keys = peer.found.map((ids) => new Set(ids.map((id) => (id + 1) * 2)));
    return bench.cells(peer.name, 1, peer.times, recallOf(keys, truth), peer.bytes);
  });
}
