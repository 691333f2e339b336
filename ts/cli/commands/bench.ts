// `cpersona-native bench scan | recall | embed`: numbers of this machine, as tables or JSON.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { type Config, readConfig } from "../../config.js";
import { invalidArgument } from "../../errors.js";
import type { NativeCore } from "../../native/contract.js";
import { openCore } from "../../native/core.js";
import { twinCore } from "../../native/twin/core.js";
import { packageVersion } from "../../package-root.js";
import { benchEmbed } from "../bench/embed.js";
import { benchRecall } from "../bench/recall.js";
import { benchScan } from "../bench/scan.js";
import { renderTable, type TableRow } from "../bench/table.js";
import { embeddedRows, randomUnitRows } from "../bench/vectors.js";

export interface BenchOptions {
  readonly rows?: string | undefined;
  readonly dims?: string | undefined;
  /** folder of texts whose embeddings are searched instead of random vectors */
  readonly texts?: string | undefined;
  /** Python that has the peers; "" leaves them out */
  readonly python?: string | undefined;
  readonly json?: boolean | undefined;
}

const BENCHES = ["scan", "recall", "embed"] as const;

export async function bench(what: string, options: BenchOptions): Promise<void> {
  const config = readConfig();
  const { core } = openCore({
    mode: config.native.mode,
    simd: config.native.simd === "auto" ? undefined : config.native.simd,
  });
  const rows = await run(what, core, config, options);
  const machine = {
    cpu: cpus()[0]?.model ?? "unknown",
    simd: core.simd,
    node: process.version,
    version: packageVersion(),
  };
  if (options.json === true)
    process.stdout.write(`${JSON.stringify({ bench: what, machine, rows }, null, 2)}\n`);
  else process.stdout.write(`${machine.cpu}, ${machine.simd}, Node ${machine.node}\n${renderTable(rows)}\n`);
}

async function run(
  what: string,
  core: NativeCore,
  config: Config,
  options: BenchOptions,
): Promise<TableRow[]> {
  if (what === "scan") return scan(core, config, options);
  if (what === "recall") return recall(options);
  if (what === "embed")
    return benchEmbed(core.kind === "twin" ? [core] : [core, twinCore], config.embedding.staticTablePath);
  throw invalidArgument("bench", `must be one of ${BENCHES.join(", ")}`);
}

/** The twin takes seconds a query beyond this many rows. */
const MAX_TWIN_ROWS = 10_000;

async function scan(core: NativeCore, config: Config, options: BenchOptions): Promise<TableRow[]> {
  const table = options.texts === undefined ? null : core.openStaticTable(config.embedding.staticTablePath);
  const texts = options.texts === undefined ? [] : readTexts(options.texts);
  const out: TableRow[] = [];
  for (const rows of numbers("rows", options.rows ?? "10000,200000")) {
    for (const dimension of table === null ? numbers("dims", options.dims ?? "384,768") : [table.dimension]) {
      const make = (count: number, seed: number): Float32Array =>
        table === null ? randomUnitRows(count, dimension, seed) : embeddedRows(texts, count, table, seed);
      const python = options.python === "" ? null : findPython(options.python ?? "python3");
      const twin = core.kind === "native" && rows <= MAX_TWIN_ROWS ? twinCore : null;
      out.push(
        ...(await benchScan({
          core,
          twin,
          rows,
          dimension,
          vectors: make(rows, 1),
          queries: make(30, 2),
          centre: table?.centre ?? null,
          python,
          say,
        })),
      );
    }
  }
  return out;
}

async function recall(options: BenchOptions): Promise<TableRow[]> {
  const out: TableRow[] = [];
  for (const rows of numbers("rows", options.rows ?? "1000,10000,50000")) {
    out.push(...(await benchRecall({ rows, environment: process.env, say })));
  }
  return out;
}

function numbers(field: string, text: string): number[] {
  const values = text.split(",").map(Number);
  if (values.some((value) => !Number.isInteger(value) || value < 1))
    throw invalidArgument(field, "must be whole numbers above 0, with commas between");
  return values;
}

/** The command when it has numpy, else null: the peers are optional. */
function findPython(command: string): string | null {
  try {
    execFileSync(command, ["-c", "import numpy"], { stdio: "ignore" });
    return command;
  } catch {
    say("no Python with numpy here: the peers are left out");
    return null;
  }
}

/** All strings of 20 characters and more in the JSON, text and Markdown files of a folder. */
function readTexts(folder: string): string[] {
  const texts: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === "string") {
      if (value.length >= 20) texts.push(value.slice(0, 300));
    } else if (typeof value === "object" && value !== null) Object.values(value).forEach(visit);
  };
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!statSync(path).isFile()) continue;
    const text = readFileSync(path, "utf8");
    if (name.endsWith(".json")) visit(JSON.parse(text));
    else if (/\.(txt|md)$/.test(name)) text.split(/\n\n+/).forEach(visit);
  }
  if (texts.length === 0) throw invalidArgument("texts", "must be a folder with .json, .txt or .md files");
  return texts;
}

/** Progress for people, beside the result. */
function say(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
