#!/usr/bin/env node
// The command `cpersona-native`. Without arguments it is an MCP server on stdio, and then loads nothing else.

import module from "node:module";
import { describeError, MemoryError } from "../errors.js";

// Node 22 and later keep compiled code between starts.
module.enableCompileCache?.();

async function main(args: readonly string[]): Promise<void> {
  // A hook runs on every prompt: it pays for nothing that other commands need.
  if (args[0] === "hook" && args[1] === "ambient") {
    const { runAmbientHook } = await import("./hook/ambient-hook.js");
    return runAmbientHook(args.slice(2));
  }
  const { runProgram } = await import("./program.js");
  return runProgram(args);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const text = error instanceof MemoryError ? error.message : describeError(error);
  process.stderr.write(`cpersona-native: ${text}\n`);
  process.exitCode = 1;
});
