// Runs once before the tests: the end-to-end tests start dist/, so it must not be older than its source.

import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./root.js";

export default function setup(): void {
  if (newest(join(ROOT, "ts")) < modified(join(ROOT, "dist", "bin", "main.js"))) return;
  run(join(ROOT, "node_modules", "typescript", "bin", "tsc"), "-p", join(ROOT, "tsconfig.build.json"));
  run(join(ROOT, "scripts", "bundle.mjs"));
}

function run(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`the build failed:\n${stdout}${stderr}`);
}

function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Math.max(0, ...files.filter((f) => f.isFile()).map((f) => modified(join(f.parentPath, f.name))));
}

function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
