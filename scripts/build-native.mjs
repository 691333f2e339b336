// Builds the native addon into crates/node, where the loader looks for it. Does nothing when it is up to date,
// and says so in one line when there is no cargo: everything then runs on the TypeScript twins.
//   node scripts/build-native.mjs [--optional] [--target <rust target>] [--glibc <version>]
// --optional: a build that fails prints its error and still exits with 0.
// --shipped: without the entries that only tests and benchmarks call.
// --glibc: implies it; links against an old glibc by way of cargo-zigbuild, for binaries that are published: one linked
// on a current system asks for that system's glibc.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { addonFile, targetOf } from "./native-targets.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);
const isOptional = args.includes("--optional");
const target = optionValue("--target");
const glibc = optionValue("--glibc");
const features = glibc !== null || args.includes("--shipped") ? [] : ["--features", "dev-entries"];

process.exitCode = main();

function main() {
  const rustc = spawnSync("rustc", ["-vV"], { encoding: "utf8", cwd: root });
  const cargo = spawnSync("cargo", ["--version"], { encoding: "utf8", cwd: root });
  if (cargo.error?.code === "ENOENT" || rustc.error?.code === "ENOENT") {
    console.log("native: no cargo on PATH, so no addon is built; the TypeScript twins need none");
    return 0;
  }
  if (cargo.status !== 0 || rustc.status !== 0) return failed("cargo does not start", cargo.stderr);
  const rust = target ?? /^host: (.*)$/m.exec(rustc.stdout)?.[1];
  const platform = targetOf(rust);
  if (platform === undefined) return failed(`no npm platform is defined for ${rust}`, "");

  const addon = join(root, "crates", "node", addonFile(platform.triple));
  const stamp = join(root, "target", `${addonFile(platform.triple)}.stamp`);
  const flags = rustFlags(rust);
  const inputs = hashInputs([rustc.stdout, rust, glibc ?? "", ...features, ...flags]);
  if (existsSync(addon) && existsSync(stamp) && readFileSync(stamp, "utf8") === inputs) {
    console.log(`native: ${relative(root, addon)} is up to date`);
    return 0;
  }

  const started = performance.now();
  const build = [glibc === null ? "build" : "zigbuild", "--release", "-p", "cpersona-node", ...features];
  build.push("--message-format=json-render-diagnostics");
  if (glibc !== null) build.push("--target", `${rust}.${glibc}`);
  else if (target !== null) build.push("--target", target);
  const run = spawnSync("cargo", build, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env: { ...process.env, CARGO_ENCODED_RUSTFLAGS: flags.join("\x1f") },
  });
  if (run.status !== 0) {
    // One of older sources might be loaded in its place, and disagree with them.
    rmSync(addon, { force: true });
    return failed("the addon does not build", run.stderr);
  }
  const library = builtLibrary(run.stdout);
  if (library === null) return failed("cargo named no library", "");
  // Renamed into place: a process that has the old file mapped keeps it, where a copy over it would crash it.
  const fresh = `${addon}.${process.pid}`;
  copyFileSync(library, fresh);
  renameSync(fresh, addon);
  mkdirSync(join(root, "target"), { recursive: true });
  writeFileSync(stamp, inputs);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`native: built ${relative(root, addon)} in ${seconds} s`);
  return 0;
}

function optionValue(option) {
  return args.includes(option) ? args[args.indexOf(option) + 1] : null;
}

/**
 * Given as CARGO_ENCODED_RUSTFLAGS, which takes the place of flags in the environment or in a user's cargo
 * settings: `target-cpu=native` there would make a binary that other machines refuse with SIGILL.
 */
function rustFlags(rust) {
  const cargoHome = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  const flags = [`--remap-path-prefix=${root}=`, `--remap-path-prefix=${cargoHome}${sep}=`];
  // A cdylib for musl links the system's libc, as Node itself does there.
  if (rust.endsWith("-musl")) flags.push("-C", "target-feature=-crt-static");
  return flags;
}

/** By content: times say nothing after a checkout. */
function hashInputs(extra) {
  const hash = createHash("sha256").update(extra.join("\n"));
  const files = ["Cargo.toml", "Cargo.lock", "build.rs"].filter((name) => existsSync(join(root, name)));
  const crates = readdirSync(join(root, "crates"), { recursive: true, encoding: "utf8" });
  files.push(...crates.filter((name) => /\.(rs|toml)$/.test(name)).map((name) => join("crates", name)));
  for (const file of files.sort()) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

/** cargo's own word on where it put the library, whatever the target folder is called. */
function builtLibrary(messages) {
  for (const line of messages.split("\n")) {
    if (!line.startsWith("{")) continue;
    const { reason, target: built, filenames } = JSON.parse(line);
    if (reason === "compiler-artifact" && built.name === "cpersona_node" && built.kind.includes("cdylib")) {
      return filenames.find((name) => /\.(so|dylib|dll)$/.test(name)) ?? null;
    }
  }
  return null;
}

function failed(what, detail) {
  const text = detail?.trim() ?? "";
  console.error(`native: ${what}, so the TypeScript twins are used${text === "" ? "" : `\n${text}`}`);
  return isOptional ? 0 : 1;
}
