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
  const meaning = await meaningFindings(service);
  const health = await service.maintenance.checkHealth({ agentId: "", fix, checks: [] });
  const { stats } = health;
  // Said with the embedder already.
  const issues = health.issues.filter(({ check }) => check !== "embedding_backend");
  const megabytes = (stats.bytes / 1e6).toFixed(1);
  return [
    {
      level: "ok",
      what: "database",
      detail: `${service.config.database.path}: ${stats.counts.memories} memories, ${stats.counts.episodes} episodes, ${megabytes} MB`,
    },
    { level: "ok", what: "sqlite", detail: `${stats.sqlite} through ${stats.driver}` },
    ...meaning,
    ...issues.map(({ check, severity, count, repairable = 0, hint }): Finding => {
      const advice = fix || repairable === 0 ? "" : "; `doctor --fix` repairs it";
      const level = severity === "info" ? "note" : "problem";
      return {
        level,
        what: check,
        detail: `${count} found${hint === undefined ? "" : `: ${hint}`}${advice}`,
      };
    }),
    { level: health.status === "healthy" ? "ok" : "note", what: "health", detail: health.status },
  ];
}

/** Whether embedder and vector service work: questions of the doctor's own, which are not kept. */
async function meaningFindings(service: MemoryService): Promise<Finding[]> {
  const { embedding, remote } = service.config;
  const ask = (query: string) => service.recall({ query, limit: 1 }).catch(() => null);
  let answer = await ask("doctor");
  // One failure may be an accident, and a model on this machine takes longer than a question the first time.
  if (service.status().embedder.status === "unknown") {
    if (embedding.mode === "onnx") await service.tryEmbedder();
    answer = await ask("the doctor asks again");
  }
  const { mode } = embedding;
  const state = service.status().embedder;
  const embedder: Finding =
    state.status === "failing"
      ? { level: "problem", what: "embedder", detail: `${mode}: ${state.detail}` }
      : { level: "ok", what: "embedder", detail: `${mode}, ${state.status}` };
  if (remote.mode === "local") return [embedder];
  const failure = answer?.degraded?.reason;
  const vectors: Finding =
    failure === undefined
      ? { level: "ok", what: "vectors", detail: "searched by the vector service" }
      : { level: "problem", what: "vectors", detail: `vector service: ${failure}` };
  return [embedder, vectors];
}

const MARKS = { ok: ["green", "ok"], note: ["yellow", "--"], problem: ["red", "!!"] } as const;

function render({ level, what, detail }: Finding, screen: Screen): string {
  const [style, mark] = MARKS[level];
  return `${paint(screen, style, mark)}  ${what.padEnd(12)}  ${detail}`;
}
