// Where the package lies: the same for sources, compiled files and bundles, which stand at different depths.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

let root: string | undefined;

/** The folder of the package's own `package.json`. */
export function packageRoot(): string {
  root ??= findRoot(dirname(fileURLToPath(import.meta.url)));
  return root;
}

function findRoot(from: string): string {
  for (let folder = from; dirname(folder) !== folder; folder = dirname(folder)) {
    if (isRoot(join(folder, "package.json"))) return folder;
  }
  return from;
}

/** The bundles' folder has a file of that name too, which only says how they are loaded. */
function isRoot(manifest: string): boolean {
  return existsSync(manifest) && readFileSync(manifest, "utf8").includes('"name"');
}

export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
