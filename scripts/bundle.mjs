// Bundles the command and the library into dist/bin, so that a start reads a few files instead of hundreds
// and an install brings no dependency tree. Writes the notices of everything that went in.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist", "bin");

rmSync(out, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ["dist/cli/main.js", "dist/index.js", "dist/embedding/onnx/model-process.js"],
  outdir: out,
  outbase: "dist",
  entryNames: "[name]",
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  // Less to parse at start: the hook runs on every prompt.
  minify: true,
  legalComments: "none",
  external: ["better-sqlite3", "onnxruntime-node"],
  // CommonJS dependencies call `require` for Node's own modules.
  banner: {
    js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);',
  },
  metafile: true,
  logLevel: "warning",
});

writeFileSync(join(root, "dist", "THIRD-PARTY-NOTICES.txt"), notices(Object.keys(metafile.inputs)));

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
