// What surrounds the picked rows: declared relations, shared use, what was said next to them.

import { recordKey } from "../domain/record.js";
import type { RecordRow } from "../recall/candidate.js";
import { rowsOfKeys } from "../recall/retrieve.js";
import type { Picked } from "./direct.js";
import { type Links, linkedRecords } from "./lensing.js";
import type { AmbientParts, AmbientRequest } from "./types.js";

export interface Look {
  readonly links: Links;
  readonly vectors: ReadonlyMap<number, readonly Float32Array[]>;
  readonly linked: ReadonlyMap<number, ReadonlyMap<number, number>>;
}

const MAX_LINKED = 24;

/** What surrounds the picked rows: relations, shared use, what was said next to them, with vectors. */
export function lookAround(picked: readonly Picked[], request: AmbientRequest, parts: AmbientParts): Look {
  const keys = picked.map(({ judged }) => judged.candidate.key);
  const links: Links = {
    relations: parts.relationsOf(keys),
    coUses: parts.usedTogether(keys),
    said: saidTogether(picked, request, parts),
  };
  const linked = new Map([...linkedRecords(keys, links)].slice(0, MAX_LINKED));
  return { links, linked, vectors: parts.vectorsOf([...keys, ...linked.keys()]) };
}

/**
 * What was said right before and after a picked row in the same session. Rows that merely were stored one after
 * the other have nothing to do with each other, so without a session there is no such link.
 */
function saidTogether(
  picked: readonly Picked[],
  request: AmbientRequest,
  parts: AmbientParts,
): Map<number, number[]> {
  const sessions = new Map(
    picked.flatMap(({ judged: { candidate } }) => {
      const session = sessionOf(candidate.row);
      return session === null || candidate.row.kind !== "mem" ? [] : [[candidate.row.memory.id, session]];
    }),
  );
  if (sessions.size === 0) return new Map();
  const gapMs = parts.recall.config.recall.neighbourMinutes * 60_000;
  const said = parts.recall.neighbours([...sessions.keys()], gapMs);
  const keys = new Set([...said.values()].flat().map((id) => recordKey("mem", id)));
  const rows = rowsOfKeys(keys, request.scope, null, parts.recall);
  const sharesSession = (id: number, other: number): boolean => {
    const row = rows.get(recordKey("mem", other));
    return row !== undefined && sessionOf(row) === sessions.get(id);
  };
  return new Map(Array.from(said, ([id, ids]) => [id, ids.filter((other) => sharesSession(id, other))]));
}

function sessionOf(row: RecordRow): string | null {
  const session = row.kind === "mem" ? row.memory.metadata["session_id"] : undefined;
  return typeof session === "string" && session !== "" ? session : null;
}
