// `cpersona-native bench`: numbers of this machine, as a table or JSON, kept and compared.

import { readConfig } from "../../config.js";
import { openEmbedder } from "../../embedding/open-embedder.js";
import { userPath } from "../../files.js";
import type { NativeCore } from "../../native/contract.js";
import { openCore } from "../../native/core.js";
import { twinCore } from "../../native/twin/core.js";
import { benchEmbed } from "../bench/embed.js";
import { benchRecall, benchStore, findPython } from "../bench/end-to-end.js";
import { benchHook } from "../bench/hook.js";
import { type BenchName, type BenchOptions, type BenchPlan, benchName, planOf } from "../bench/options.js";
import { compared, keep, machineOf, noiseHint, readRecord } from "../bench/record.js";
import { benchScan } from "../bench/scan.js";
import { remark, renderTable, type TableRow } from "../bench/table.js";
import { mixedVectors, randomVectors, readTexts } from "../bench/vectors.js";

/** Below the current folder: a clone keeps its records there. */
const RECORD_FOLDER = "bench/record";
/** The largest last-level caches of today hold less. */
const READ_BYTES = 768 * 2 ** 20;
/** The twin takes seconds a query beyond this many rows. */
const MOST_TWIN_ROWS = 10_000;

export async function bench(what: string, options: BenchOptions): Promise<void> {
  const name = benchName(what);
  const plan = planOf(name, options);
  const kept = options.compare === undefined ? null : readRecord(userPath("compare", options.compare));
  const config = readConfig();
  const { core } = openCore({
    mode: config.native.mode,
    simd: config.native.simd === "auto" ? undefined : config.native.simd,
  });
  const measured = await measure(name, core, plan, options);
  const machine = machineOf(core);
  const rows = kept === null ? measured : compared(measured, kept.benches[name] ?? []);
  const { record } = options;
  const folder =
    typeof record === "string" ? userPath("record", record) : record === true ? RECORD_FOLDER : null;
  const path = folder !== null ? keep(folder, name, machine, measured) : null;
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ bench: name, machine, rows }, null, 2)}\n`);
  } else {
    const { cpu, cores, memoryGb, simd, node } = machine;
    const head = `${cpu}, ${cores} cores, ${memoryGb} GB, ${simd}, Node ${node}`;
    process.stdout.write(`${head}\n${renderTable(rows)}\n`);
    if (kept !== null) process.stdout.write(`${noiseHint(rows, kept, machine)}\n`);
  }
  if (path !== null) remark(`kept in ${path}`);
}

async function measure(
  name: BenchName,
  core: NativeCore,
  plan: BenchPlan,
  options: BenchOptions,
): Promise<TableRow[]> {
  const { runs } = plan;
  const each = async (work: (rows: number) => Promise<TableRow[]>): Promise<TableRow[]> => {
    const out: TableRow[] = [];
    for (const rows of plan.rows) out.push(...(await work(rows)));
    return out;
  };
  switch (name) {
    case "scan":
      return scan(core, plan, options);
    case "hook":
      return each((rows) => benchHook(rows, runs));
    case "embed": {
      const { staticTablePath } = readConfig().embedding;
      return benchEmbed(core.kind === "twin" ? [core] : [core, twinCore], staticTablePath);
    }
    case "recall":
    case "store": {
      const python = findPython(options.python, "cpersona");
      const work = name === "recall" ? benchRecall : benchStore;
      return each((rows) => work({ rows, runs, python }));
    }
  }
}

async function scan(core: NativeCore, plan: BenchPlan, options: BenchOptions): Promise<TableRow[]> {
  const python = findPython(options.python, "numpy");
  const makers =
    options.texts === undefined
      ? plan.dims.map(randomVectors)
      : [
          await mixedVectors(
            readTexts(userPath("texts", options.texts)),
            openEmbedder(readConfig().embedding, { core, clock: { now: () => Date.now() } }),
          ),
        ];
  const out: TableRow[] = [];
  for (const rows of plan.rows)
    for (const maker of makers) {
      const twin = core.kind === "native" && rows <= MOST_TWIN_ROWS ? twinCore : null;
      const { threads, runs } = plan;
      out.push(
        ...(await benchScan({ core, twin, rows, maker, threads, runs, python, readBytes: READ_BYTES })),
      );
    }
  return out;
}
