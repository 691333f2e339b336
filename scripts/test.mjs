// `npm test`: makes the clone ready, runs every check that this machine can run, and ends with one plain line
// `N passed, N failed, N skipped` over all of them. A gate (linter, compiler, ...) counts as one.
//   node scripts/test.mjs                    everything
//   node scripts/test.mjs --suite [args]     the vitest suite alone, on the Node that runs this, as it lies
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureReady, ensureTestPackages } from "./setup.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const colours = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];

const args = process.argv.slice(2);
if (args[0] === "--suite") await suite(args.slice(1));
else {
  await ensureReady();
  await ensureTestPackages();
  await gate("biome", node("@biomejs/biome/bin/biome", "ci", ".", ...(colours ? [] : ["--colors=off"])));
  await gate("tsc", node("typescript/bin/tsc", "-p", "tsconfig.json"));
  await suite([]);
  if (!has("node:sqlite"))
    skip("the suite on node:sqlite", `Node ${process.versions.node} has none; .ci/run brings a newer Node`);
  await gate("knip", node("knip/bin/knip.js", ...(colours ? [] : ["--no-progress"])));
  await gate("publint", node("publint/src/cli.js"));
  await rust();
}
if (failures.length > 0) console.log(`\nfailed: ${failures.join(", ")}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 ? 1 : 0;

async function suite(more) {
  const folder = mkdtempSync(join(tmpdir(), "cpersona-report-"));
  const report = join(folder, "vitest.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const { code, seconds } = await run("vitest", node("vitest/vitest.mjs", "run", ...reporters, ...more));
  let counted = 0;
  if (existsSync(report)) {
    const counts = JSON.parse(readFileSync(report, "utf8"));
    counted = counts.numFailedTests;
    total.passed += counts.numPassedTests;
    total.failed += counted;
    total.skipped += counts.numPendingTests + counts.numTodoTests;
  }
  rmSync(folder, { recursive: true, force: true });
  // A file that does not load, or an error outside of tests, fails no test.
  if (code !== 0 && counted === 0) total.failed += 1;
  if (code !== 0) failures.push("vitest");
  console.log(`vitest: ${code === 0 ? "ok" : "failed"} in ${seconds} s`);
}

async function rust() {
  if (!existsSync(join(ROOT, "Cargo.toml"))) return;
  const cargo = await run(null, ["cargo", "--version"], { quiet: true });
  if (cargo.code !== 0) {
    for (const name of ["cargo fmt", "cargo clippy", "cargo test"]) skip(name, "no cargo on PATH");
    return;
  }
  const colour = `--color=${colours ? "always" : "never"}`;
  await gate("cargo fmt", ["cargo", "fmt", "--all", "--check"]);
  await gate("cargo clippy", [
    "cargo",
    "clippy",
    colour,
    "--workspace",
    "--all-features",
    "--all-targets",
    "--",
    "-D",
    "warnings",
  ]);
  const { code, seconds, output } = await run(
    "cargo test",
    ["cargo", "test", colour, "--workspace", "--all-features"],
    {
      keep: true,
    },
  );
  let failed = 0;
  for (const line of output.matchAll(/test result: \S+ (\d+) passed; (\d+) failed; (\d+) ignored/g)) {
    total.passed += Number(line[1]);
    failed += Number(line[2]);
    total.skipped += Number(line[3]);
  }
  total.failed += code !== 0 && failed === 0 ? 1 : failed;
  if (code !== 0) failures.push("cargo test");
  console.log(`cargo test: ${code === 0 ? "ok" : "failed"} in ${seconds} s`);
}

/** One check: the program's exit code. */
async function gate(name, command) {
  const { code, seconds } = await run(name, command);
  total[code === 0 ? "passed" : "failed"] += 1;
  if (code !== 0) failures.push(name);
  console.log(`${name}: ${code === 0 ? "ok" : "failed"} in ${seconds} s`);
}

function skip(name, reason) {
  total.skipped += 1;
  console.log(`\n${name}: skipped, ${reason}`);
}

/** The command line of a program of ours in node_modules, on this Node. */
function node(script, ...args) {
  return [process.execPath, join(ROOT, "node_modules", ...script.split("/")), ...args];
}

function has(module) {
  try {
    return require(module) !== undefined;
  } catch {
    return false;
  }
}

/** Streams what the program says; `keep` also returns it, `quiet` drops it. */
function run(title, [command, ...args], { keep = false, quiet = false } = {}) {
  if (title !== null) console.log(`\n--- ${title}`);
  const started = performance.now();
  const { FORCE_COLOR: _, ...plain } = process.env;
  const child = spawn(command, args, {
    cwd: ROOT,
    env: colours ? process.env : { ...plain, NO_COLOR: "1" },
    stdio: ["ignore", quiet ? "ignore" : keep ? "pipe" : "inherit", quiet ? "ignore" : "inherit"],
    windowsHide: true,
  });
  const chunks = [];
  child.stdout?.on("data", (chunk) => {
    chunks.push(chunk);
    process.stdout.write(chunk);
  });
  return new Promise((resolve) => {
    const done = (code) =>
      resolve({
        code,
        seconds: ((performance.now() - started) / 1000).toFixed(1),
        output: Buffer.concat(chunks).toString("utf8"),
      });
    child.on("error", () => done(127));
    child.on("close", (code) => done(code ?? 1));
  });
}
