// What declared relations say about shown rows: the reason, the contradiction, the successor. Every record on
// the far side comes through `visible`, so it obeys scope and excluded tags like a row of its own.

import type { Relation } from "../domain/relation.js";
import type { RecordRow } from "../recall/candidate.js";
import type { Tension } from "./types.js";

export interface Edges {
  /** edges that start or end at the shown rows, newest first */
  readonly relations: readonly Relation[];
  /** far sides that the caller may see */
  readonly rows: ReadonlyMap<number, RecordRow>;
}

/** The newest visible record that `key` is derived from. */
export function reasonOf(key: number, { relations, rows }: Edges): RecordRow | null {
  for (const { from, to, type } of relations) {
    const target = type === "derived_from" && from === key && to !== key ? rows.get(to) : undefined;
    if (target !== undefined) return target;
  }
  return null;
}

/** Contradictions of the shown rows in either direction, each pair once. */
export function tensionsOf(
  shown: readonly { readonly key: number; readonly row: RecordRow }[],
  { relations, rows }: Edges,
): Tension[] {
  const seen = new Set<string>();
  const out: Tension[] = [];
  for (const { key, row } of shown) {
    for (const { from, to, type } of relations) {
      if (type !== "contradicts" || (from !== key && to !== key)) continue;
      const otherKey = from === key ? to : from;
      const other = rows.get(otherKey);
      const pair = `${Math.min(key, otherKey)}:${Math.max(key, otherKey)}`;
      if (other === undefined || otherKey === key || seen.has(pair)) continue;
      seen.add(pair);
      out.push({ key, row, otherKey, other });
    }
  }
  return out;
}

/** The newest record that supersedes `key`, or null. */
export function successorOf(key: number, relations: readonly Relation[]): number | null {
  const edge = relations.find(({ from, to, type }) => type === "supersedes" && to === key && from !== key);
  return edge?.from ?? null;
}
