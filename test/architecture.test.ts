// The rules between folders, as data. A new arrow is a design decision: it is made here and in
// ARCHITECTURE.md in the same commit.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./support/root.js";
import { withoutComments } from "./support/source-text.js";

const TS = join(ROOT, "ts");

interface Arrows {
  /** parts whose values and types may be imported */
  readonly uses: readonly string[];
  /** parts of which only types may be imported: they arrive as injected interfaces */
  readonly types?: readonly string[];
}

const ADAPTERS = ["native", "store", "embedding", "vectors"];
/** What every part may use. */
const GROUND = ["errors", "log", "next-turn", "domain", "files", "supervisor", "waiting", "text"];
/** What serves a capability. */
const ENGINE = ["recall", "remember", "ambient", "maintenance"];

/** A part is a folder below ts/, or a file directly in it without its ending. Each may use itself. */
const TABLE: Readonly<Record<string, Arrows>> = {
  errors: { uses: [] },
  log: { uses: [] },
  "next-turn": { uses: [] },
  // Naming, making and opening files.
  files: { uses: ["errors"] },
  waiting: { uses: [] },
  supervisor: { uses: ["errors", "log"] },
  "package-root": { uses: [] },
  "project-folder": { uses: [] },
  text: { uses: [] },
  domain: { uses: ["errors"] },
  // Groups of settings; `config.ts` puts them together.
  settings: { uses: ["domain", "errors", "files", "project-folder"] },
  config: { uses: [...GROUND, "settings", "package-root"] },
  native: { uses: ["errors", "log", "package-root"] },
  store: { uses: [...GROUND, "native"], types: ["config"] },
  embedding: { uses: [...GROUND, "native", "package-root"], types: ["settings"] },
  // Fetches models; a folder is one when the embedder can read it.
  models: { uses: ["domain", "errors", "files", "settings", "embedding"] },
  vectors: { uses: [...GROUND, "native"], types: ["config"] },
  // `embedding/embedder.ts` also holds the pure arithmetic on an embedder's card.
  recall: { uses: [...GROUND, "embedding"], types: ["config", "settings", ...ADAPTERS] },
  remember: { uses: [...GROUND, "embedding"], types: ["config", ...ADAPTERS] },
  ambient: {
    // `intake/injected.ts` knows what clients put into prompts.
    uses: [...GROUND, "recall", "embedding", "intake"],
    types: ["config", "settings", ...ADAPTERS],
  },
  // `config.ts` also holds the levels of precision.
  maintenance: {
    uses: [...GROUND, "config", "recall", "remember", "embedding"],
    types: ["settings", ...ADAPTERS],
  },
  service: { uses: [...GROUND, "config", ...ENGINE], types: ADAPTERS },
  // `recall/candidate.ts` and `ambient/block.ts` know the text that a row is shown with.
  response: {
    uses: ["domain", "text", "errors", "recall", "ambient"],
    types: ["config", "service", "store", ...ENGINE],
  },
  mcp: { uses: [...GROUND, "response", "service"], types: ["config", ...ENGINE] },
  http: { uses: [...GROUND, "response", "mcp"], types: ["service", "config", "settings", ...ENGINE] },
  intake: { uses: ["domain", "text", "errors"] },
  // Where the parts are built and wired.
  wiring: { uses: [...GROUND, ...ENGINE, ...ADAPTERS], types: ["config", "service"] },
  "open-memory": {
    uses: [...GROUND, "config", "service", "wiring", ...ENGINE, ...ADAPTERS],
    types: ["settings"],
  },
  "open-ambient": { uses: ["service", "wiring"], types: ["config"] },
  index: { uses: ["errors", "open-memory"], types: ["config", "domain", "service", ...ENGINE] },
  cli: {
    uses: [
      ...[...GROUND, "settings", "settings", "config", "open-memory", "open-ambient", "package-root"],
      ...["project-folder", "mcp", "http", "intake", "models", "response", "service", "wiring"],
      ...[...ENGINE, ...ADAPTERS],
    ],
  },
};

interface Import {
  readonly specifier: string;
  readonly isType: boolean;
}

interface SourceFile {
  /** path below ts/, with slashes */
  readonly path: string;
  readonly part: string;
  readonly text: string;
  /** the text with comments blanked out */
  readonly code: string;
  readonly imports: readonly Import[];
}

function readSources(): SourceFile[] {
  return readdirSync(TS, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .sort()
    .map((name) => {
      const text = readFileSync(join(TS, name), "utf8");
      const path = name.split(sep).join("/");
      const code = withoutComments(text);
      return { path, part: partOf(path), text, code, imports: importsOf(code) };
    });
}

function partOf(path: string): string {
  return (path.split("/")[0] as string).replace(/\.ts$/, "");
}

function importsOf(code: string): Import[] {
  const found: Import[] = [];
  for (const match of code.matchAll(/^(?:import|export)\s+(type\s+)?([^"';]*?)\s*from\s+"([^"]+)"/gm)) {
    const names = (match[2] as string)
      .replace(/[{}]/g, "")
      .split(",")
      .map((name) => name.trim());
    const isType = match[1] !== undefined || names.every((name) => name === "" || name.startsWith("type "));
    found.push({ specifier: match[3] as string, isType });
  }
  for (const match of code.matchAll(/^import\s+"([^"]+)"/gm))
    found.push({ specifier: match[1] as string, isType: false });
  for (const match of code.matchAll(/\b(?:import|require)\(\s*"([^"]+)"\s*\)/g)) {
    const isType = /typeof\s*$/.test(code.slice(0, match.index));
    found.push({ specifier: match[1] as string, isType });
  }
  return found;
}

/** The part that a relative import leads to; null for packages and for files outside ts/. */
function targetOf(file: SourceFile, specifier: string): string | null {
  if (!specifier.startsWith(".")) return null;
  const path = relative(TS, resolve(dirname(join(TS, file.path)), specifier))
    .split(sep)
    .join("/");
  return path.startsWith("..") ? null : partOf(path.replace(/\.js$/, ".ts"));
}

const sources = readSources();

/** `path: what` for each file that a rule finds something in. */
function findings(rule: (file: SourceFile) => readonly string[]): string[] {
  return sources.flatMap((file) => rule(file).map((what) => `${file.path}: ${what}`));
}

function lines(file: SourceFile, pattern: RegExp): string[] {
  return file.code
    .split("\n")
    .filter((line) => pattern.test(line))
    .map((line) => line.trim());
}

describe("imports", () => {
  it("are read from every file", () => {
    expect(sources.length).toBeGreaterThan(50);
    const known = sources.find((file) => file.path === "recall/exclude.ts");
    expect(known?.imports).toContainEqual({ specifier: "../text/characters.js", isType: false });
  });

  it("have a row in the table for every part", () => {
    expect([...new Set(sources.map((file) => file.part))].filter((part) => !(part in TABLE))).toEqual([]);
  });

  it("follow the table", () => {
    const broken = findings((file) =>
      file.imports.flatMap(({ specifier, isType }) => {
        const target = targetOf(file, specifier);
        const { uses, types = [] } = TABLE[file.part] ?? { uses: [] };
        if (target === null || target === file.part || uses.includes(target)) return [];
        if (isType && types.includes(target)) return [];
        return [`${isType ? "type " : ""}import of ${target} (${specifier})`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it("form no circle between parts, types aside", () => {
    const next = new Map<string, Set<string>>();
    for (const file of sources)
      for (const { specifier, isType } of file.imports) {
        const target = targetOf(file, specifier);
        if (target === null || isType || target === file.part) continue;
        next.set(file.part, (next.get(file.part) ?? new Set()).add(target));
      }
    const reaches = (from: string, to: string, seen: Set<string>): boolean =>
      [...(next.get(from) ?? [])].some(
        (part) => part === to || (!seen.has(part) && reaches(part, to, seen.add(part))),
      );
    expect([...next.keys()].filter((part) => reaches(part, part, new Set()))).toEqual([]);
  });

  it("of the MCP SDK are in mcp/, the HTTP transport, and as a client in demonstration and benchmarks", () => {
    expect(
      findings((file) =>
        file.imports
          .filter(({ specifier }) => specifier.startsWith("@modelcontextprotocol/"))
          .filter(({ specifier }) => {
            const isClient = specifier.includes("/client/") || specifier.endsWith("/types.js");
            const isServer = file.part === "mcp" || file.path === "http/mcp-transport.ts";
            return !(isServer || (/^cli\/(?:bench|demo)\//.test(file.path) && isClient));
          })
          .map(({ specifier }) => specifier),
      ),
    ).toEqual([]);
  });

  it("of SQLite drivers are in store/driver.ts alone", () => {
    expect(
      findings((file) =>
        file.path === "store/driver.ts" ? [] : lines(file, /"(?:better-sqlite3|node:sqlite)"\s*\)/),
      ),
    ).toEqual([]);
  });

  it("of node's own modules say so", () => {
    const bare = /^(?:fs|path|url|os|crypto|http|https|child_process|util|stream|events|module)(?:\/|$)/;
    expect(
      findings((file) => file.imports.map(({ specifier }) => specifier).filter((name) => bare.test(name))),
    ).toEqual([]);
  });
});

describe("code", () => {
  it("has SQL in store/ alone", () => {
    const SQL =
      /["'`]\s*(?:SELECT\s.+\sFROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(?:TABLE|INDEX|VIRTUAL)|PRAGMA\s)/;
    expect(findings((file) => (file.part === "store" ? [] : lines(file, SQL)))).toEqual([]);
  });

  it("reads the environment in config.ts, in open-memory.ts as a default, and in cli/", () => {
    expect(
      findings((file) =>
        ["config", "open-memory", "cli"].includes(file.part) ? [] : lines(file, /\bprocess\.env\b/),
      ),
    ).toEqual([]);
  });

  it("writes to stdout in cli/ and mcp/ alone", () => {
    expect(
      findings((file) => (["cli", "mcp"].includes(file.part) ? [] : lines(file, /\bprocess\.stdout\b/))),
    ).toEqual([]);
  });

  it("uses no console", () => {
    expect(findings((file) => lines(file, /\bconsole\.\w+/))).toEqual([]);
  });

  it("ends the process in cli/ alone", () => {
    expect(findings((file) => (file.part === "cli" ? [] : lines(file, /\bprocess\.exit\b/)))).toEqual([]);
  });

  it("starts no promise whose rejection nobody catches", () => {
    // `void` in front of a call hides one from every linter; what the drivers give back is no promise.
    const started = /\bvoid\s+[\w.#?]+\(|\bvoid\s+import\(/;
    expect(findings((file) => (file.path === "store/driver.ts" ? [] : lines(file, started)))).toEqual([]);
  });

  it("writes through the queue: whole transactions are begun by Database.write, and joined in store/", () => {
    // Each of these holds up the event loop while another process writes, and is to go.
    const waiting = [
      "maintenance/deep-check.ts",
      "maintenance/health/row-pass.ts",
      "maintenance/health/store-checks.ts",
      "maintenance/merge.ts",
      "maintenance/transfer/import.ts",
      "maintenance/transfer/target.ts",
      "wiring/maintenance-parts.ts",
    ];
    const direct = findings((file) => (file.part === "store" ? [] : lines(file, /\btransaction\(/)));
    const files = new Set(direct.map((line) => line.split(": ")[0] ?? ""));
    expect([...files].filter((file) => !waiting.includes(file))).toEqual([]);
  });

  it("exports every name by itself", () => {
    expect(findings((file) => lines(file, /^export \*/))).toEqual([]);
  });

  it("has no file over 350 lines", () => {
    expect(
      findings((file) => {
        const count = file.text.split("\n").length - 1;
        return count > 350 ? [`${count} lines`] : [];
      }),
    ).toEqual([]);
  });

  it("starts every file of more than 15 lines with what it is for", () => {
    expect(
      findings((file) => {
        const isShort = file.text.split("\n").length <= 15;
        // A tool's file says it to the agent, in its description.
        const isTool = file.path.startsWith("mcp/tools/");
        return isShort || isTool || /^(?:#!.*\n)?\/\/ /.test(file.text) ? [] : ["no opening comment"];
      }),
    ).toEqual([]);
  });

  it("names no path of a machine and no registry", () => {
    const MACHINE = /["'`](?:\/(?:home|root|work|tmp|Users)\/|[A-Z]:\\)|registry\.npmjs|crates\.io/;
    expect(findings((file) => lines(file, MACHINE))).toEqual([]);
  });
});
