// Loads a bundle compiled from what V8 kept of an earlier run. Compiling anew costs every prompt 20 ms and every
// start of a server 40. Node 22 keeps compiled code by itself.

import { mkdirSync, readFileSync, statSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { writePrivateFile } from "../files.js";

export interface CompiledBundle<Exports> {
  readonly exports: Exports;
  /**
   * To be called when a run has done what runs usually do: at its end everything is kept that was compiled by then,
   * unless an earlier run's was there.
   */
  keepAtEnd(): void;
}

/** `name`: a file beside the bundled command, without its ending. */
export function loadCompiled<Exports>(name: string): CompiledBundle<Exports> {
  const file = join(dirname(fileURLToPath(import.meta.url)), `${name}.js`);
  const require = createRequire(file);
  const importModule = (vm.constants as { USE_MAIN_CONTEXT_DEFAULT_LOADER?: number } | undefined)
    ?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  if (Module.enableCompileCache !== undefined || importModule === undefined)
    return { exports: require(file) as Exports, keepAtEnd: () => {} };
  const cacheFile = cacheFileOf(file, name);
  const cachedData = readOrNothing(cacheFile);
  const script = new vm.Script(Module.wrap(readFileSync(file, "utf8")), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
    importModuleDynamically: importModule as never,
  });
  const module = { exports: {} };
  const run = script.runInThisContext() as (...parts: unknown[]) => void;
  run(module.exports, require, module, file, dirname(file));
  const isKept = cachedData !== undefined && script.cachedDataRejected !== true;
  return {
    exports: module.exports as Exports,
    keepAtEnd: () => {
      if (!isKept) process.once("exit", () => keep(cacheFile, script.createCachedData()));
    },
  };
}

/**
 * Beside the bundles: who can write there can change the code itself. V8 looks at version and flags but at no more
 * of the source than its length, so the name holds when the file was written.
 */
function cacheFileOf(file: string, name: string): string {
  const { mtimeMs, size } = statSync(file);
  const kept = `${name}-${process.versions.node}-${process.arch}-${size}-${Math.round(mtimeMs)}.cache`;
  return join(dirname(file), "..", "compiled", kept);
}

function readOrNothing(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/**
 * In a place that cannot be written each run compiles anew. Everybody may read what is kept, as the bundles beside it;
 * nobody else may write what is run.
 */
function keep(file: string, bytes: Buffer): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    writePrivateFile(file, bytes, 0o644);
  } catch {
    // Slower, not wrong.
  }
}
