// Slower looks at the rows of one agent. Nothing here is a fault for certain: people judge.

import { parseInstant } from "../domain/time.js";
import { describeError } from "../errors.js";
import { log } from "../log.js";
import { nextTurn } from "../next-turn.js";
import { countChars } from "../text/characters.js";
import type { HealthParts } from "./health/parts.js";
import { ROW_CHECKS } from "./health/row-checks.js";
import { checkNames } from "./health/run-checks.js";
import type { Progress } from "./progress.js";

export interface DeepCheckParts extends HealthParts {
  /** Memories nearest to each of these by meaning; calibrated cosines. Empty without vectors. */
  similar(
    ids: readonly number[],
    agentId: string,
  ): Promise<readonly { id: number; other: number; cosine: number }[]>;
  newestIds(agentId: string, limit: number): number[];
  /** |length - 1| of the agent's vectors beyond the tolerance, and how many were read */
  offLength(agentId: string, tolerance: number, limit: number): { count: number; read: number };
  calibrationState(agentId: string): Readonly<Record<string, unknown>>;
}

export interface DeepCheckRequest {
  readonly agentId: string;
  readonly fix: boolean;
  readonly checks: readonly string[];
  readonly progress?: Progress | undefined;
}

type Result = Readonly<Record<string, unknown>>;
type DeepCheck = (request: DeepCheckRequest, parts: DeepCheckParts) => Result | Promise<Result>;

export interface DeepReport {
  readonly checksRun: readonly string[];
  readonly results: Readonly<Record<string, Result>>;
}

const SAMPLE = 20;
const STALE_DAYS = 30;
/** Wide characters say three times as much. */
const SHORT_UNITS = 5;
const NEAR_COSINE = 0.97;
const NORM_TOLERANCE = 0.001;
const NORM_ROWS = 2000;
const PAGE_ROWS = 500;

const DEEP_CHECKS: Readonly<Record<string, DeepCheck>> = {
  anonymous_source: (request, parts) => {
    const check = ROW_CHECKS.find(({ name }) => name === "anonymous_source");
    return rowsThat(
      request,
      parts,
      (row) => check?.has(row, { maxChars: 0, latest: 0, hash: parts.contentHash }) ?? false,
    );
  },
  short_content: (request, parts) => {
    const found = rowsThat(request, parts, ({ content }) => widthOf(content) <= SHORT_UNITS);
    if (!request.fix) return found;
    const unlocked = found.rows.filter(({ locked }) => !locked);
    parts.transaction(() => {
      for (const { id } of unlocked) parts.deleteMemory(id);
    });
    return { ...found, deleted: unlocked.length };
  },
  stale_profile: ({ agentId }, parts) => {
    const oldest = parts.clock.now() - STALE_DAYS * 86_400_000;
    const stale = parts.profiles(agentId).filter(({ updatedAt }) => (parseInstant(updatedAt) ?? 0) < oldest);
    return { count: stale.length, threshold_days: STALE_DAYS };
  },
  orphaned_episodes: ({ agentId }, parts) => {
    const { memories, episodes } = parts.counts(agentId);
    return { count: memories === 0 ? episodes : 0 };
  },
  calibration_staleness: ({ agentId }, parts) => parts.calibrationState(agentId),
  near_duplicate: async ({ agentId }, parts) => {
    const ids = parts.newestIds(agentId, parts.config.maintenance.nearDuplicateRows);
    const pairs = (await parts.similar(ids, agentId)).filter(({ cosine }) => cosine > NEAR_COSINE);
    return {
      count: pairs.length,
      rows_compared: ids.length,
      threshold: NEAR_COSINE,
      samples: pairs
        .slice(0, SAMPLE)
        .map(({ id, other, cosine }) => ({ refs: [`mem:${id}`, `mem:${other}`], cosine })),
    };
  },
  unnormalized_content: (request, parts) =>
    rowsThat(request, parts, ({ content }) => content !== content.normalize("NFC")),
  embedding_norm: ({ agentId }, parts) => {
    const { count, read } = parts.offLength(agentId, NORM_TOLERANCE, NORM_ROWS);
    return { count, rows_scanned: read, tolerance: NORM_TOLERANCE };
  },
};

/** Throws `invalid_argument` for unknown names. A check that crashes has an `error` in its place. */
export async function runDeepChecks(request: DeepCheckRequest, parts: DeepCheckParts): Promise<DeepReport> {
  const all = Object.keys(DEEP_CHECKS);
  checkNames(request.checks, all);
  const names = request.checks.length === 0 ? all : all.filter((name) => request.checks.includes(name));
  const results: Record<string, Result> = {};
  for (const [i, name] of names.entries()) {
    try {
      const { rows: _, ...result } = (await DEEP_CHECKS[name]?.(request, parts)) ?? {};
      results[name] = result;
    } catch (error) {
      log("error", `deep check ${name}: ${describeError(error)}`);
      results[name] = { error: "the check crashed; the server's log has the details" };
    }
    request.progress?.(i + 1, names.length);
    await nextTurn();
  }
  return { checksRun: names, results };
}

type Row = ReturnType<HealthParts["rows"]["memoriesAfter"]>[number];

function rowsThat(
  { agentId }: DeepCheckRequest,
  { rows }: DeepCheckParts,
  has: (row: Row) => boolean,
): { count: number; samples: string[]; rows: readonly { id: number; locked: boolean }[] } {
  const found: { id: number; locked: boolean }[] = [];
  for (let after = 0; ; ) {
    const page = rows.memoriesAfter(agentId, after, PAGE_ROWS);
    if (page.length === 0) break;
    for (const row of page) if (has(row)) found.push({ id: row.id, locked: row.locked });
    after = page[page.length - 1]?.id as number;
  }
  return { count: found.length, samples: found.slice(0, SAMPLE).map(({ id }) => `mem:${id}`), rows: found };
}

function widthOf(text: string): number {
  const wide = text.match(/[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}]/gu)?.length ?? 0;
  return countChars(text.trim()) + 2 * wide;
}
