// `bench` on the command line.

import type { Command } from "commander";

const EXAMPLES = `
scan     the nearest ten of so many vectors, by each method, beside numpy, faiss and usearch where Python has them
recall   questions over stdio, in process and over HTTP; start, memory; beside CPersona where Python has it
store    storing, over stdio and in process, as the store grows; beside CPersona
hook     the ambient hook as a whole process, beside Node's own start
embed    a vector of the embedded default

Examples:
  cpersona-native bench scan --rows 200000 --dims 768
  cpersona-native bench scan --texts ./notes --python ./venv/bin/python
  cpersona-native bench recall --rows 5000 --python ./venv/bin/python
  cpersona-native bench scan --record             keep the result
  cpersona-native bench scan --compare bench/record/<cpu>/<date>.json

Peers: pip install numpy faiss-cpu usearch; for recall and store: pip install cpersona==2.6.14
Compare rows of one run: machines are noisy. bench/README.md tells how to read the tables.`;

export function addBench(program: Command): void {
  program
    .command("bench [what]")
    .description("measure this machine: scan (default), recall, store, hook or embed")
    .option("--rows <numbers>", "rows, with commas between; 1,000,000 × 768 needs 5 GB of disk")
    .option("--dims <numbers>", "scan: dimensions of random vectors, with commas between (default 384,768)")
    .option("--threads <numbers>", "scan: threads, with commas between (default one and all)")
    .option("--runs <number>", "measured runs of each line (default 30)")
    .option("--texts <folder>", "scan: search embeddings of these texts, by the embedder that is set")
    .option("--python <command>", 'Python that has the peers (default python3); "" leaves them out')
    .option("--json", "print JSON")
    .option("--record [folder]", "keep the result in <folder>/<cpu>/<date>.json (default bench/record)")
    .option("--compare <file>", "show the ratio to a kept result")
    .addHelpText("after", EXAMPLES)
    .action(async (what: string | undefined, options: object) => {
      const { bench } = await import("./commands/bench.js");
      await bench(what ?? "scan", options);
    });
}
