// Writing an export: one view of the data, page by page, to a temporary file that takes its place at the end.

import type { Episode, Memory } from "../../domain/memory.js";
import { recordKey } from "../../domain/record.js";
import type { RecordBelongings } from "../../store/belongings.js";
import type { MovedProfile, TransferCounts } from "../../store/transfer.js";
import type { Progress } from "../progress.js";
import { episodeLine, headerLine, type Line, memoryLine, profileLine } from "./wire.js";

/** One unchanging view of the store, see `wiring/maintenance-parts.ts`. */
export interface ExportSnapshot {
  counts(agentId: string | null): TransferCounts;
  idsAfter(kind: "mem" | "ep", agentId: string | null, after: number, limit: number): number[];
  memories(ids: readonly number[]): Memory[];
  episodes(ids: readonly number[]): Episode[];
  belongings(keys: readonly number[]): Map<number, RecordBelongings>;
  profiles(agentId: string | null): MovedProfile[];
}

const PAGE_ROWS = 200;
const NOTHING: RecordBelongings = { use: null, relations: [], usedWith: [], vectors: null };

/** The lines in the format's order: header, memories by id, episodes by id, profiles by agent. */
export function* exportLines(
  snapshot: ExportSnapshot,
  agentId: string,
  exportedAt: string,
  progress: Progress = () => {},
): Generator<Line> {
  const agent = agentId === "" ? null : agentId;
  const counts = snapshot.counts(agent);
  const total = counts.memories + counts.episodes + counts.profiles;
  let done = 0;
  yield headerLine(agentId, exportedAt, counts);
  for (const ids of pages(snapshot, "mem", agent)) {
    const belongings = snapshot.belongings(ids.map((id) => recordKey("mem", id)));
    for (const memory of byId(snapshot.memories(ids)))
      yield memoryLine(memory, belongings.get(recordKey("mem", memory.id)) ?? NOTHING);
    done += ids.length;
    progress(done, total);
  }
  for (const ids of pages(snapshot, "ep", agent)) {
    const belongings = snapshot.belongings(ids.map((id) => recordKey("ep", id)));
    for (const episode of byId(snapshot.episodes(ids)))
      yield episodeLine(episode, belongings.get(recordKey("ep", episode.id)) ?? NOTHING);
    done += ids.length;
    progress(done, total);
  }
  for (const profile of snapshot.profiles(agent)) yield profileLine(profile);
  progress(total, total);
}

function* pages(snapshot: ExportSnapshot, kind: "mem" | "ep", agent: string | null): Generator<number[]> {
  for (let after = 0; ; ) {
    const ids = snapshot.idsAfter(kind, agent, after, PAGE_ROWS);
    if (ids.length === 0) return;
    yield ids;
    after = ids[ids.length - 1] as number;
  }
}

function byId<Row extends { readonly id: number }>(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => a.id - b.id);
}
