// Makes a fresh clone ready to run: installs what package-lock.json says, builds what is older than its source.
// Needs nothing but Node and npm. Says one line per step, and the whole output only when a step fails.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MODULES = join(ROOT, "node_modules");
const LOCK = join(ROOT, "package-lock.json");
/** What was installed and built last; lost together with node_modules, as it should be. */
const STAMP = join(MODULES, ".cpersona-setup.json");

/** Installs and builds what is missing or old. Ends the process with a plain message when that fails. */
export async function ensureReady() {
  const major = Number(process.versions.node.split(".")[0]);
  if (major < 20) stop(`Node 20 or newer is needed, this is ${process.version}.`);
  await install();
  await rebuildDriver();
  const native = join(ROOT, "scripts", "build-native.mjs");
  if (existsSync(native)) {
    await step("building the native addon", process.execPath, [native, "--optional"], { optional: true });
  }
  await build();
}

/** What only tests need, and is too large for everybody who clones: the runtime of local models. */
export async function ensureTestPackages() {
  if (existsSync(join(MODULES, "onnxruntime-node", "package.json"))) return;
  const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  // The oldest that is promised to work.
  const wanted = `onnxruntime-node@${peerDependencies["onnxruntime-node"].replace("^", "")}`;
  const quiet = ["--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  await npm("installing the runtime of local models", [
    "install",
    "--no-save",
    "--save-dev",
    ...quiet,
    wanted,
  ]);
  writeStamp({ ...readStamp(), lock: hashOf(LOCK) });
}

async function install() {
  const wanted = { lock: hashOf(LOCK), runtime: runtime() };
  const stamp = readStamp();
  if (existsSync(MODULES)) {
    if (stamp.lock === wanted.lock && stamp.runtime === wanted.runtime) return;
    // Somebody installed by hand since: npm leaves its own record of what it did.
    const byHand = join(MODULES, ".package-lock.json");
    const fresh = existsSync(byHand) && (!existsSync(LOCK) || mtime(byHand) >= mtime(LOCK));
    if (fresh && (stamp.runtime === undefined || stamp.runtime === wanted.runtime)) {
      writeStamp({ ...stamp, ...wanted });
      return;
    }
  }
  // Development packages are needed for the build, whatever NODE_ENV says.
  const quiet = ["--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const plain = () => npm("installing packages", ["install", "--no-save", ...quiet]);
  if (!existsSync(LOCK)) await plain();
  else {
    // `npm ci` refuses a lockfile without an optional package of another platform that the registry lacks
    // (EUSAGE); `npm install` takes the same versions and goes on without it.
    const otherwise = (output) => (output.includes("EUSAGE") ? plain : undefined);
    await npm("installing packages", ["ci", ...quiet], { otherwise });
  }
  writeStamp({ ...wanted, lock: hashOf(LOCK) });
}

/** On Node without `node:sqlite` the SQLite addon must work; newer npm versions may not have built it. */
async function rebuildDriver() {
  const driver = join(MODULES, "better-sqlite3");
  const [major, minor] = process.versions.node.split(".").map(Number);
  const builtIn = major > 22 || (major === 22 && minor >= 13);
  if (builtIn || !existsSync(driver) || existsSync(join(driver, "build", "Release", "better_sqlite3.node")))
    return;
  await npm("building the SQLite driver", ["rebuild", "better-sqlite3", "--loglevel=error"]);
}

async function build() {
  const source = fingerprint(["ts", "package.json", "tsconfig.json", "tsconfig.build.json"]);
  const main = join(ROOT, "dist", "cli", "main.js");
  if (existsSync(main) && readStamp().built === source) return;
  await npm("building", ["run", "build", "--silent"]);
  writeStamp({ ...readStamp(), built: source });
}

/** npm as it runs now when npm started us, else the one on the path. */
function npm(title, args, options = {}) {
  const running = process.env.npm_execpath ?? "";
  if (/^npm(-cli)?\.c?js$/.test(basename(running)))
    return step(title, process.execPath, [running, ...args], options);
  // npm is a .cmd file on Windows, which only a shell can start; the arguments are all fixed words.
  const windows = process.platform === "win32";
  return step(title, windows ? ["npm", ...args].join(" ") : "npm", windows ? [] : args, {
    ...options,
    shell: windows,
  });
}

/**
 * Runs a program quietly with one line and the elapsed time; prints its output only when it fails.
 * `otherwise` may look at the output of a failure and name another way to go on.
 */
function step(title, command, args, { shell = false, optional = false, otherwise = () => undefined } = {}) {
  const started = Date.now();
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
  const live = process.stderr.isTTY === true && process.env.TERM !== "dumb";
  const say = (text) => process.stderr.write(live ? `\r\u001b[2K${text}` : text);
  // A step of less than a second, such as a check that finds all done, is not worth a line.
  let spoken = false;
  const speak = () => {
    if (live || !spoken) say(`${title}…${live ? ` ${seconds()}` : "\n"}`);
    spoken = true;
  };
  const timer = setInterval(speak, 1000);
  return new Promise((resolve) => {
    const output = [];
    const errors = [];
    const child = spawn(command, args, {
      cwd: ROOT,
      shell,
      // The CPU runtime is in the package; its install script would fetch the one for graphics cards.
      env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: "skip" },
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    child.stdout.on("data", (chunk) => output.push(chunk));
    child.stderr.on("data", (chunk) => {
      output.push(chunk);
      errors.push(chunk);
    });
    const finish = (problem) => {
      clearInterval(timer);
      if (problem === undefined) {
        if (spoken) say(`${title}: done in ${seconds()}\n`);
        // An optional step that went without something says so in its first line.
        const [warning] = Buffer.concat(errors).toString("utf8").split("\n");
        if (optional && warning !== "") process.stderr.write(`${warning}\n`);
        resolve(undefined);
        return;
      }
      if (live && spoken) say("");
      const another = otherwise(Buffer.concat(output).toString("utf8"));
      if (another !== undefined) {
        another().then(resolve);
        return;
      }
      process.stderr.write(Buffer.concat(output));
      if (optional) {
        process.stderr.write(`${title} failed (${problem}); going on without it.\n`);
        resolve(undefined);
      } else stop(`${title} failed (${problem}).`);
    };
    child.on("error", (error) => finish(error.message));
    child.on("close", (code, signal) => finish(code === 0 ? undefined : (signal ?? `exit code ${code}`)));
  });
}

function stop(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** Native modules fit one ABI on one platform. */
function runtime() {
  return `${process.platform}-${process.arch}-${process.versions.modules}`;
}

function hashOf(file) {
  return existsSync(file)
    ? createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16)
    : "none";
}

function mtime(file) {
  return statSync(file).mtimeMs;
}

/** Changes when any file below `paths` is added, removed or edited. */
function fingerprint(paths) {
  const hash = createHash("sha256");
  const visit = (path) => {
    const info = statSync(join(ROOT, path), { throwIfNoEntry: false });
    if (info === undefined) return;
    if (info.isDirectory()) for (const name of readdirSync(join(ROOT, path)).sort()) visit(`${path}/${name}`);
    else hash.update(`${path} ${info.size} ${info.mtimeMs}\n`);
  };
  for (const path of paths) visit(path);
  return hash.digest("hex").slice(0, 16);
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, "utf8"));
  } catch {
    return {};
  }
}

function writeStamp(stamp) {
  if (existsSync(MODULES)) writeFileSync(STAMP, `${JSON.stringify(stamp)}\n`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await ensureReady();
