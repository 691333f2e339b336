// Runs the checks that are wanted, and repairs where asked. Locked rows are never touched; a check that
// crashes is a finding, not a failure.

import { describeError, isStorageFault, MemoryError } from "../../errors.js";
import { log } from "../../log.js";
import { nextTurn } from "../../next-turn.js";
import type { Progress } from "../progress.js";
import { type Finding, HEALTH_CHECKS, type HealthIssue, type Severity } from "./check.js";
import type { HealthParts } from "./parts.js";
import { rowCheckNames, runRowChecks } from "./row-pass.js";
import { STORE_CHECKS } from "./store-checks.js";

export interface HealthRequest {
  /** null = all agents */
  readonly agentId: string | null;
  readonly fix: boolean;
  /** empty = all */
  readonly checks: readonly string[];
  readonly progress?: Progress | undefined;
}

export interface HealthReport {
  readonly issues: readonly HealthIssue[];
  /** after repairs, of what is left */
  readonly summary: Readonly<Record<Severity, number>>;
  readonly status: "healthy" | "degraded" | "unhealthy";
  readonly checksRun: readonly string[];
  /** rows and things that were repaired, by check; empty without `fix` */
  readonly repaired: Readonly<Record<string, number>>;
}

/** Throws `invalid_argument`, with the names that exist. */
export function checkNames(wanted: readonly string[], valid: readonly string[]): void {
  const unknown = wanted.filter((name) => !valid.includes(name));
  if (unknown.length === 0) return;
  const named = unknown.map((name) => name.slice(0, 64));
  throw new MemoryError("invalid_argument", `checks holds unknown names: ${named.join(", ")}`, {
    field: "checks",
    details: { unknown_checks: named, valid_checks: valid, checks_run: [] },
  });
}

export async function runHealthChecks(request: HealthRequest, parts: HealthParts): Promise<HealthReport> {
  const all: string[] = HEALTH_CHECKS.map(({ name }) => name);
  checkNames(request.checks, all);
  const names = request.checks.length === 0 ? all : all.filter((name) => request.checks.includes(name));
  const progress = request.progress ?? (() => {});
  // Repairs come first in the count: a run with them looks at everything twice.
  const total = names.length * (request.fix ? 3 : 1);
  let done = 0;
  const step = (): void => progress(++done, total);
  const found = await find(names, request, parts, step);
  if (!request.fix) return { ...judge(names, found), repaired: {} };
  const repaired: Record<string, number> = {};
  for (const name of names) {
    if (found.has(name)) repaired[name] = await repair(name, request, parts);
    step();
  }
  const left = await find(names, request, parts, step);
  return {
    ...judge(names, found, left),
    repaired: Object.fromEntries(Object.entries(repaired).filter(([, n]) => n > 0)),
  };
}

async function find(
  names: readonly string[],
  { agentId }: HealthRequest,
  parts: HealthParts,
  step: () => void,
): Promise<Map<string, Finding>> {
  const found = await rowFindings(names, agentId, parts);
  for (const name of names) {
    const check = STORE_CHECKS[name];
    if (check !== undefined) {
      const finding = await guarded(name, () => check.find(agentId, parts));
      if (finding !== null) found.set(name, finding);
    }
    step();
    await nextTurn();
  }
  return found;
}

/** Rows that cannot be read are a finding of each check that wanted to read them. */
async function rowFindings(
  names: readonly string[],
  agentId: string | null,
  parts: HealthParts,
): Promise<Map<string, Finding>> {
  try {
    return await runRowChecks(names, agentId, parts);
  } catch (error) {
    return new Map(rowCheckNames(names).map((each) => [each, crash(each, error)]));
  }
}

function crash(name: string, error: unknown): Finding {
  log("error", `health check ${name}: ${describeError(error)}`);
  if (isStorageFault(error)) return { count: 1, severity: "critical", hint: `not checked: ${error.message}` };
  return { count: 1, severity: "warn", hint: "the check crashed; the server's log has the details" };
}

async function guarded(
  name: string,
  work: () => Finding | null | Promise<Finding | null>,
): Promise<Finding | null> {
  try {
    return await work();
  } catch (error) {
    return crash(name, error);
  }
}

async function repair(name: string, { agentId }: HealthRequest, parts: HealthParts): Promise<number> {
  try {
    const check = STORE_CHECKS[name];
    if (check === undefined) return (await runRowChecks([name], agentId, parts, true)).get(name)?.count ?? 0;
    return (await check.repair?.(agentId, parts)) ?? 0;
  } catch (error) {
    log("error", `repair of ${name}: ${describeError(error)}`);
    return 0;
  }
}

/** Issues as they were found; status and summary of what is left. */
function judge(
  names: readonly string[],
  found: ReadonlyMap<string, Finding>,
  left: ReadonlyMap<string, Finding> = found,
): Omit<HealthReport, "repaired"> {
  const summary: Record<Severity, number> = { critical: 0, warn: 0, info: 0 };
  for (const name of names) {
    const finding = left.get(name);
    if (finding !== undefined) summary[toIssue(name, finding).severity]++;
  }
  return {
    issues: names.flatMap((name) => {
      const finding = found.get(name);
      return finding === undefined ? [] : [toIssue(name, finding)];
    }),
    summary,
    status: summary.critical > 0 ? "unhealthy" : summary.warn > 0 ? "degraded" : "healthy",
    checksRun: names,
  };
}

/** What a repair cannot change is for people to look at, and does not make a store degraded. */
function toIssue(name: string, finding: Finding): HealthIssue {
  const check = HEALTH_CHECKS.find((candidate) => candidate.name === name);
  const severity = finding.severity ?? check?.severity ?? "info";
  const needsReview = check?.repairable === true && finding.repairable === 0;
  return {
    ...finding,
    check: name,
    severity: needsReview && severity === "warn" ? "info" : severity,
    needsReview,
  };
}
