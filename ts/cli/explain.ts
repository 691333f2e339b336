// Why each row of an answer is there, for people: lists, ranks, parts of the score, gate and time.

import { oneLine } from "../ambient/escape.js";
import { type Hit, rowText } from "../recall/candidate.js";
import type { RecallTrace, TraceRow } from "../recall/trace.js";
import { renderTable, type TableRow } from "./bench/table.js";

const TEXT_CHARS = 60;

/** Rows best first, as people read; `hits` are best last, as recall gives them. */
export function explain(trace: RecallTrace, hits: readonly Hit[]): string {
  const texts = hits.map(({ row }) => oneLine(rowText(row)).slice(0, TEXT_CHARS)).reverse();
  const rows = trace.rows.map((row, i) => toTableRow(row, texts[i] ?? ""));
  const levels = Object.entries(trace.levels).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  const gate =
    trace.openedBy === null
      ? "the gate stayed closed: nothing in the store says enough about this"
      : `the gate was opened by ${trace.openedBy}`;
  const stages = trace.stages.map(
    ({ stage, rows: count, ms }) => `${stage} ${count} rows ${ms.toFixed(1)} ms`,
  );
  return [
    ...(rows.length === 0 ? [] : [renderTable(rows), ""]),
    `${gate} (needed: ${levels.join(", ")})`,
    stages.join(" -> "),
  ].join("\n");
}

function toTableRow(row: TraceRow, text: string): TableRow {
  return {
    "#": row.rank,
    ref: row.ref,
    lists: Object.entries(row.lists)
      .map(([list, rank]) => `${list} ${rank}`)
      .join(", "),
    score: row.score,
    fused: row.fused,
    neighbours: row.fromNeighbours,
    cosine: row.cosine,
    words: row.coverage,
    penalty: row.penalty,
    text,
  };
}
