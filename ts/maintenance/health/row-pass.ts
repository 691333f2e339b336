// One pass over the memories for all row checks that are wanted, page by page.

import { nextTurn } from "../../next-turn.js";
import type { RawMemory } from "../../store/health.js";
import type { Finding } from "./check.js";
import type { HealthParts } from "./parts.js";
import { type Mending, ROW_CHECKS, type RowCheck, type RowContext } from "./row-checks.js";

const PAGE_ROWS = 500;
const SAMPLE_IDS = 5;

interface Tally {
  count: number;
  repairable: number;
  readonly ids: number[];
}

/** Those of the names that are checks of single rows. */
export function rowCheckNames(names: readonly string[]): string[] {
  return ROW_CHECKS.map(({ name }) => name).filter((name) => names.includes(name));
}

/** What the row checks among `names` find. With `repair` it mends as it goes, and counts what it mended. */
export async function runRowChecks(
  names: readonly string[],
  agentId: string | null,
  parts: HealthParts,
  repair = false,
): Promise<Map<string, Finding>> {
  const checks = ROW_CHECKS.filter(({ name }) => names.includes(name));
  const tallies = new Map<string, Tally>();
  if (checks.length === 0) return new Map();
  const context = rowContext(parts);
  for (let after = 0; ; ) {
    const rows = parts.rows.memoriesAfter(agentId, after, PAGE_ROWS);
    if (rows.length === 0) break;
    const look = (): void => {
      for (const row of rows)
        for (const check of checks) lookAt(row, check, { context, parts, repair, tallies });
    };
    if (repair) parts.transaction(look);
    else look();
    after = rows[rows.length - 1]?.id as number;
    await nextTurn();
  }
  return new Map(
    Array.from(tallies, ([name, { count, repairable, ids }]) => [
      name,
      toFinding(name, count, repairable, ids),
    ]),
  );
}

function toFinding(name: string, count: number, repairable: number, ids: readonly number[]): Finding {
  const check = ROW_CHECKS.find((candidate) => candidate.name === name);
  return {
    count,
    ...(check?.mend === undefined ? {} : { repairable }),
    ...(check?.hint === undefined ? {} : { hint: check.hint }),
    details: { refs: ids.map((id) => `mem:${id}`) },
  };
}

function lookAt(
  row: RawMemory,
  check: RowCheck,
  pass: {
    readonly context: RowContext;
    readonly parts: HealthParts;
    readonly repair: boolean;
    readonly tallies: Map<string, Tally>;
  },
): void {
  if (!check.has(row, pass.context)) return;
  const mending = row.locked ? null : (check.mend?.(row, pass.context) ?? null);
  if (pass.repair && !(mending !== null && mend(row.id, mending, pass.parts))) return;
  const tally = pass.tallies.get(check.name) ?? { count: 0, repairable: 0, ids: [] };
  pass.tallies.set(check.name, tally);
  tally.count++;
  if (mending !== null) tally.repairable++;
  if (tally.ids.length < SAMPLE_IDS) tally.ids.push(row.id);
}

function mend(id: number, mending: NonNullable<Mending>, parts: HealthParts): boolean {
  if ("patch" in mending) {
    // Another row may have the text that the hash now stands for: then this row stays as it is.
    if (mending.patch.contentHash !== undefined && parts.rows.isHeld(id, mending.patch.contentHash))
      return false;
    parts.rows.patchMemory(id, mending.patch);
  } else if ("remove" in mending) parts.deleteMemory(id);
  else if (parts.replaceContent(id, mending.content) === "held") parts.deleteMemory(id);
  return true;
}

function rowContext({ config, clock, contentHash }: HealthParts): RowContext {
  return {
    maxChars: config.limits.contentChars,
    latest: clock.now() + config.limits.futureSkewMs,
    hash: contentHash,
  };
}
