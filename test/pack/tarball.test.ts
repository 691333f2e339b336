// The package as users get it: packed, installed into an empty folder without scripts and without optional
// packages, and run.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../support/root.js";
import { tempFolder } from "../support/temp.js";

const hasNodeSqlite = ((): boolean => {
  try {
    return createRequire(import.meta.url)("node:sqlite") !== undefined;
  } catch {
    return false;
  }
})();

function npm(cwd: string, ...args: string[]): string {
  return execFileSync("npm", args, {
    cwd,
    encoding: "utf8",
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function run(folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  return execFileSync(process.execPath, args, {
    cwd: folder,
    encoding: "utf8",
    env: { ...env, HOME: folder },
  });
}

describe("the package", () => {
  let folder: string;
  let installed: string;
  let files: string[];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "cpersona-pack-"));
    const [packed] = JSON.parse(
      npm(ROOT, "pack", "--json", "--ignore-scripts", "--pack-destination", folder),
    ) as [{ filename: string; files: { path: string }[] }];
    files = packed.files.map((file) => file.path);
    installed = join(folder, "app");
    mkdirSync(installed);
    writeFileSync(join(installed, "package.json"), '{"private":true}');
    const quiet = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
    npm(installed, "install", "--ignore-scripts", "--omit=optional", ...quiet, join(folder, packed.filename));
  }, 180_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

  const main = (): string => join(installed, "node_modules", "cpersona-native", "dist", "bin", "main.js");

  it("holds what is on the list and nothing else", () => {
    const ALLOWED = new RegExp(
      [
        "^dist/bin/(?:(?:main|program|hook)\\.js|package\\.json|.+\\.mjs)$",
        "^dist/(?!cli/).+\\.d\\.ts$",
        "^dist/THIRD-PARTY-NOTICES\\.txt$",
        "^assets/.+",
        // npm takes the README of a folder along when anything of it is listed.
        "^bench/(?:peers/.+|README\\.md)$",
        "^(?:README(?:\\.ja)?\\.md|LICENSE|CHANGELOG\\.md|package\\.json)$",
      ].join("|"),
    );
    expect(files.filter((file) => !ALLOWED.test(file))).toEqual([]);
    for (const needed of [
      "package.json",
      "LICENSE",
      "dist/bin/index.mjs",
      "dist/bin/program.js",
      "dist/bin/package.json",
      "dist/bin/main.js",
      "dist/bin/model-process.mjs",
      "dist/index.d.ts",
      "dist/THIRD-PARTY-NOTICES.txt",
      "assets/static-multilingual/static.ste",
      "assets/static-multilingual/NOTICE.md",
    ])
      expect(files).toContain(needed);
  });

  it("runs no script when it is installed", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    expect(Object.keys(scripts).filter((name) => /^(?:pre|post)?install$/.test(name))).toEqual([]);
  });

  it("shows its version by the command that npm links", () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    const bin = join(installed, "node_modules", ".bin", "cpersona-native");
    expect(run(installed, [process.platform === "win32" ? main() : bin, "--version"])).toBe(`${version}\n`);
  });

  it("exports the library with its types", () => {
    const script =
      "const m = await import('cpersona-native'); console.log(typeof m.openMemory, typeof m.MemoryError)";
    expect(run(installed, ["--input-type=module", "-e", script])).toBe("function function\n");
    expect(readFileSync(join(main(), "..", "..", "index.d.ts"), "utf8")).toContain("openMemory");
  });

  const session = async (): Promise<Client> => {
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: tempFolder(),
      CPERSONA_DB_PATH: join(tempFolder(), "m.db"),
    };
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [main()], env, stderr: "ignore" }),
    );
    await client.listTools();
    return client;
  };
  const reason = hasNodeSqlite ? "" : ` (skipped: Node ${process.versions.node} has no node:sqlite)`;

  it.skipIf(!hasNodeSqlite)(`stores and recalls over stdio, by words and by meaning${reason}`, async () => {
    const client = await session();
    try {
      const stored = await client.callTool({
        name: "store",
        arguments: { content: "the staging host is gamma" },
      });
      expect(stored.structuredContent).toMatchObject({ result: "stored", embedded: true });
      const found = await client.callTool({ name: "recall", arguments: { query: "staging host" } });
      expect(found.structuredContent).toMatchObject({
        messages: [{ content: "the staging host is gamma", match_reason: { cosine: expect.any(Number) } }],
      });
    } finally {
      await client.close();
    }
  });

  it.skipIf(hasNodeSqlite)("says in one line what to do where no SQLite driver works", async () => {
    const client = await session();
    try {
      const stored = await client.callTool({ name: "store", arguments: { content: "x" } });
      expect(stored.structuredContent).toMatchObject({
        result: "rejected",
        reason: expect.stringMatching(
          /^no SQLite driver works on Node .*npm install better-sqlite3@12` with install scripts allowed$/,
        ),
      });
    } finally {
      await client.close();
    }
  });
});
