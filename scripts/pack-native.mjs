// Packs the main package and the package of one platform into tarballs, ready to be installed together.
//   node scripts/pack-native.mjs <folder> [--target <rust target>]
// Prints the path of each tarball on a line of its own, the main package first. Publishes nothing.

import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { addonFile, TARGETS, targetOf } from "./native-targets.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const [folder, ...options] = process.argv.slice(2);
if (folder === undefined) fail("name the folder for the tarballs");
const out = resolve(folder);
mkdirSync(out, { recursive: true });

const platform = options[0] === "--target" ? targetOf(options[1]) : hostPlatform();
if (platform === undefined) fail("no npm platform is defined for this target");
const addon = join(root, "crates", "node", addonFile(platform.triple));
if (!existsSync(addon))
  fail(`${addonFile(platform.triple)} is not built; run scripts/build-native.mjs first`);
if (!existsSync(join(root, "dist"))) fail("dist is missing; run the build first");

const platformFolder = join(root, "npm", platform.triple);
const wanted = versionOf(root);
const found = versionOf(platformFolder);
if (wanted !== found) fail(`npm/${platform.triple} has version ${found}, the main package ${wanted}`);

console.log(pack(root));
// Staged elsewhere, so that no binary is ever left lying in npm/.
const stage = mkdtempSync(join(tmpdir(), "pack-native-"));
try {
  cpSync(platformFolder, stage, { recursive: true });
  copyFileSync(addon, join(stage, addonFile(platform.triple)));
  copyFileSync(join(root, "LICENSE"), join(stage, "LICENSE"));
  console.log(pack(stage));
} finally {
  rmSync(stage, { recursive: true });
}

/** The local platform, by what the loader would look for: the addon that was built last on this machine. */
function hostPlatform() {
  const own = TARGETS.filter(({ os, cpu }) => os === process.platform && cpu === process.arch);
  return own.find(({ triple }) => existsSync(join(root, "crates", "node", addonFile(triple)))) ?? own[0];
}

/** Packs a folder without running its scripts; the tarball's path. */
function pack(packageFolder) {
  const isWindows = process.platform === "win32";
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", out];
  const run = spawnSync(isWindows ? "npm.cmd" : "npm", args, {
    cwd: packageFolder,
    encoding: "utf8",
    shell: isWindows,
  });
  if (run.status !== 0) fail(`npm pack failed in ${packageFolder}\n${run.stderr}`);
  const reports = JSON.parse(run.stdout);
  const [report] = Array.isArray(reports) ? reports : Object.values(reports);
  return join(out, report.filename);
}

function versionOf(packageFolder) {
  return JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")).version;
}

function fail(reason) {
  console.error(`pack-native: ${reason}`);
  process.exit(1);
}
