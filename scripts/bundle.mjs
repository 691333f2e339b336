// Bundles the command and the library into dist/bin, so that a start reads two files instead of hundreds
// and an install brings no dependency tree. Writes the notices of everything that went in.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist", "bin");

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  // Less to parse at start: the hook runs on every prompt.
  minify: true,
  legalComments: "none",
  external: ["better-sqlite3", "onnxruntime-node"],
  metafile: true,
  logLevel: "warning",
};

rmSync(out, { recursive: true, force: true });
rmSync(join(root, "dist", "compiled"), { recursive: true, force: true });
const modules = await build({
  ...shared,
  entryPoints: ["dist/index.js", "dist/embedding/onnx/model-process.js"],
  outdir: out,
  outbase: "dist",
  entryNames: "[name]",
  chunkNames: "chunks/[name]-[hash]",
  outExtension: { ".js": ".mjs" },
  splitting: true,
  format: "esm",
  // CommonJS dependencies call `require` for Node's own modules.
  banner: {
    js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);',
  },
});
// The command, everything it does, and the hook as CommonJS: Node's loader of modules costs a prompt 15 ms, and what
// V8 compiled can be kept of scripts only.
const commonJs = (entry, name, swap) =>
  build({
    ...shared,
    entryPoints: [entry],
    outfile: join(out, name),
    format: "cjs",
    define: { "import.meta.url": "__moduleUrl" },
    banner: { js: 'const __moduleUrl=require("node:url").pathToFileURL(__filename).href;' },
    plugins: [{ name: "swap", setup: (on) => on.onResolve({ filter: /^\./ }, swap) }],
  });
const STAND_INS = {
  "./program.js": "dist/cli/cached-program.js",
  "./hook/ambient-hook.js": "dist/cli/hook/cached-hook.js",
};
const command = await commonJs("dist/cli/main.js", "main.js", ({ path }) =>
  path in STAND_INS ? { path: join(root, STAND_INS[path]) } : null,
);
const program = await commonJs("dist/cli/program.js", "program.js", () => null);
const hook = await commonJs("dist/cli/hook/ambient-hook.js", "hook.js", () => null);
writeFileSync(join(out, "package.json"), '{ "type": "commonjs" }\n');

const inputs = [modules, command, program, hook].flatMap(({ metafile }) => Object.keys(metafile.inputs));
writeFileSync(join(root, "dist", "THIRD-PARTY-NOTICES.txt"), notices(inputs));

/** Name, version and licence text of every package of which a file was bundled. */
function notices(inputs) {
  const folders = new Set();
  for (const input of inputs) {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match !== null) folders.add(match[1]);
  }
  const entries = [...folders].sort().map((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    return `${manifest.name} ${manifest.version} (${licenceName(manifest)})\n\n${licenceText(folder)}`;
  });
  const title = "The files in bin/ contain code of the following packages.";
  return `${[title, ...entries].join(`\n\n${"-".repeat(78)}\n\n`)}\n`;
}

function licenceName({ license, licenses }) {
  return typeof license === "string" ? license : (licenses?.[0]?.type ?? "licence in its package");
}

function licenceText(folder) {
  const file = readdirSync(join(root, folder)).find((name) => /^(licen[cs]e|copying)/i.test(name));
  if (file !== undefined) return readFileSync(join(root, folder, file), "utf8").trim();
  const manifest = JSON.parse(
    readFileSync(join(root, dirname(folder), folder.split("/").pop(), "package.json"), "utf8"),
  );
  return `No licence file in the package; author: ${JSON.stringify(manifest.author ?? "not named")}`;
}
