// `cpersona-native doctor`: what runs here, what is wrong, and what to do about it. Exit code 1 when
// something needs doing.

import { type Config, readConfig } from "../../config.js";
import { describeError, MemoryError } from "../../errors.js";
import { openCore } from "../../native/core.js";
import { describeFailures } from "../../native/loader.js";
import { openService } from "../../open-memory.js";
import { packageVersion } from "../../package-root.js";
import type { MemoryService } from "../../service/memory-service.js";
import { paint, type Screen, screenOf } from "../style.js";

export interface DoctorOptions {
  /** repair what can be repaired */
  readonly fix?: boolean | undefined;
  readonly json?: boolean | undefined;
}

interface Finding {
  readonly level: "ok" | "note" | "problem";
  readonly what: string;
  readonly detail: string;
}

export async function doctor(options: DoctorOptions): Promise<void> {
  const findings = await examine(options);
  const screen = screenOf(process.stdout, process.env);
  const text =
    options.json === true
      ? JSON.stringify(findings, null, 2)
      : findings.map((finding) => render(finding, screen)).join("\n");
  process.stdout.write(`${text}\n`);
  if (findings.some(({ level }) => level === "problem")) process.exitCode = 1;
}

async function examine(options: DoctorOptions): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    return [{ level: "problem", what: "settings", detail: describeError(error) }];
  }
  const settings = config.warnings.map((detail): Finding => ({ level: "note", what: "settings", detail }));
  const node: Finding = {
    level: "ok",
    what: "version",
    detail: `${packageVersion()} on Node ${process.versions.node}`,
  };
  try {
    const service = openService(config, { now: () => Date.now() });
    try {
      return [node, ...settings, nativeFinding(config), ...(await storeFindings(service, options))];
    } finally {
      await service.close();
    }
  } catch (error) {
    const detail = error instanceof MemoryError ? error.message : describeError(error);
    return [node, ...settings, nativeFinding(config), { level: "problem", what: "database", detail }];
  }
}

function nativeFinding({ native }: Config): Finding {
  const { core, load } = openCore({ mode: native.mode === "required" ? "auto" : native.mode });
  if (core.kind === "native")
    return { level: "ok", what: "native", detail: `${core.simd} (${load?.place ?? "addon"})` };
  const reasons = load === null ? "switched off by CPERSONA_NATIVE" : describeFailures(load).join("; ");
  return { level: "note", what: "native", detail: `TypeScript runs in its place, slower: ${reasons}` };
}

async function storeFindings(service: MemoryService, { fix = false }: DoctorOptions): Promise<Finding[]> {
  // A vector of anything tells whether the embedder works; the text is not kept. One failure may be an accident.
  for (const query of ["doctor", "the doctor asks again"]) {
    await service.recall({ query, limit: 1 }).catch(() => undefined);
    if (service.status().embedder.status !== "unknown") break;
  }
  const health = await service.maintenance.checkHealth({ agentId: "", fix, checks: [] });
  const { stats } = health;
  const state = service.status().embedder;
  const { mode } = service.config.embedding;
  const megabytes = (stats.bytes / 1e6).toFixed(1);
  return [
    {
      level: "ok",
      what: "database",
      detail: `${service.config.database.path}: ${stats.counts.memories} memories, ${stats.counts.episodes} episodes, ${megabytes} MB`,
    },
    { level: "ok", what: "sqlite", detail: `${stats.sqlite} through ${stats.driver}` },
    state.status === "failing"
      ? { level: "problem", what: "embedder", detail: `${mode}: ${state.detail}` }
      : { level: "ok", what: "embedder", detail: `${mode}, ${stats.embedder}` },
    ...health.issues.map(
      (issue): Finding => ({
        level: issue.severity === "info" ? "note" : "problem",
        what: issue.check,
        detail: `${issue.count} found${issue.hint === undefined ? "" : `: ${issue.hint}`}${fix ? "" : "; `doctor --fix` repairs what can be repaired"}`,
      }),
    ),
    { level: health.status === "healthy" ? "ok" : "note", what: "health", detail: health.status },
  ];
}

const MARKS = { ok: ["green", "ok"], note: ["yellow", "--"], problem: ["red", "!!"] } as const;

function render({ level, what, detail }: Finding, screen: Screen): string {
  const [style, mark] = MARKS[level];
  return `${paint(screen, style, mark)}  ${what.padEnd(12)}  ${detail}`;
}
