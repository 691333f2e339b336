// Runs once before the tests: the end-to-end tests start dist/, so it must not be older than its source.

import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./root.js";

export default function setup(): void {
  if (newest(join(ROOT, "ts")) < modified(join(ROOT, "dist", "cli", "main.js"))) return;
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", join(ROOT, "tsconfig.build.json")], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the build failed:\n${stdout}`);
}

function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Math.max(0, ...files.filter((f) => f.isFile()).map((f) => modified(join(f.parentPath, f.name))));
}

function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
