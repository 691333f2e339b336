// Stands for the hook in the bundled command: the hook's own bundle, compiled from what V8 kept of an earlier run.
// Compiling anew costs every prompt 20 ms. Node 22 keeps compiled code by itself.

import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

type Hook = typeof import("./ambient-hook.js");

export const runAmbientHook: Hook["runAmbientHook"] = (args) => {
  const { hook, script } = loadHook();
  // At the end of a run that did everything, so that it holds the functions of the next one.
  const keepAtEnd = (): void => {
    process.once("exit", () => script?.keep());
  };
  return hook.runAmbientHook(args, keepAtEnd);
};

interface LoadedHook {
  readonly hook: Hook;
  /** null when there is nothing to keep */
  readonly script: { keep(): void } | null;
}

function loadHook(): LoadedHook {
  const file = join(dirname(fileURLToPath(import.meta.url)), "hook.js");
  const require = createRequire(file);
  const importModule = (vm.constants as { USE_MAIN_CONTEXT_DEFAULT_LOADER?: number } | undefined)
    ?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  if (Module.enableCompileCache !== undefined || importModule === undefined)
    return { hook: require(file) as Hook, script: null };
  const cacheFile = cacheFileOf(file);
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
    hook: module.exports as Hook,
    script: isKept ? null : { keep: () => keep(cacheFile, script.createCachedData()) },
  };
}

/**
 * Beside the bundles: who can write there can change the code itself. V8 looks at version and flags but at no more
 * of the source than its length, so the name holds when the file was written.
 */
function cacheFileOf(file: string): string {
  const { mtimeMs, size } = statSync(file);
  const name = `hook-${process.versions.node}-${process.arch}-${size}-${Math.round(mtimeMs)}.cache`;
  return join(dirname(file), "..", "compiled", name);
}

function readOrNothing(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** In a place that cannot be written the hook compiles anew each time. */
function keep(file: string, bytes: Buffer): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, bytes);
    renameSync(draft, file);
  } catch {
    // Slower, not wrong.
  }
}
