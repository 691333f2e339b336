// The options of `recall` and `hook` as the help shows them.

import type { Command } from "commander";
import type { RecallOptions } from "./commands/recall.js";

export function addRecall(program: Command): void {
  program
    .command("recall")
    .description("search the memories; with --ambient, show the block that the hook would print")
    .argument("<query...>", "a question or keywords")
    .option("-n, --limit <rows>", "most rows", "10")
    .option("--deep", "lower the quality gate")
    .option("--explain", "show why each row is there, and what each step cost")
    .option("--json", "print the answer as data")
    .option("--agent <id>", "whose memories; default CPERSONA_AGENT_ID")
    .option("--project <id>", 'this project and the global pool; "" global only, "*" all')
    .option("--channel <name>", "this channel and the shared one")
    .option("--ambient", "the block for a prompt instead of rows")
    .option("--history <prompts...>", "ambient: earlier prompts, oldest first")
    .option("--direct-k <rows>", "ambient: direct rows")
    .option("--min-score <cosine>", "ambient: floor on the best row")
    .option("--min-chars <chars>", "ambient: least characters of prompt and history")
    .option("--exclude-tags <tags>", "ambient: leave out tags that contain these, comma-separated")
    .option("--breakdown", "ambient: show the parts of each row's score")
    .option("--surfaced <refs...>", "ambient: rows shown lately, mem:12 or mem:12=3")
    .option("--session <key>", "ambient: remember what was shown to this session")
    .action(async (words: readonly string[], options: RecallOptions) => {
      const { recallCommand } = await import("./commands/recall.js");
      await recallCommand(words, options);
    });
}

export function addHook(program: Command): void {
  program
    .command("hook")
    .description("run by an agent's host, not by people; `hook ambient` reads a prompt event on stdin")
    .argument("<name>", "ambient")
    .allowUnknownOption()
    .action((name: string) => {
      // `hook ambient` never comes here: main.ts runs it without loading this file.
      process.stderr.write(`cpersona-native: there is no hook ${name}\n`);
    });
}
