// Which record: kind and id in SQL, key in the vector index, ref for readers.

/** A memory (`mem`) or an episode (`ep`). Their ids come from separate counters. */
export type RecordKind = "mem" | "ep";

export interface RecordId {
  readonly kind: RecordKind;
  /** SQLite row id, 1 or more */
  readonly id: number;
}

/** The record's key in the vector index: `id * 2`, plus 1 for an episode. */
export function recordKey(kind: RecordKind, id: number): number {
  return id * 2 + (kind === "ep" ? 1 : 0);
}

export function recordOfKey(key: number): RecordId {
  return { kind: key % 2 === 1 ? "ep" : "mem", id: Math.floor(key / 2) };
}

/** `mem:12` or `ep:3`. */
export function formatRef(record: RecordId): string {
  return `${record.kind}:${record.id}`;
}

/** Reads a ref; null when it is malformed (no sign, no leading zeros, at most 2^52). */
export function parseRef(ref: string): RecordId | null {
  const parts = /^(mem|ep):([1-9][0-9]{0,15})$/.exec(ref);
  if (parts === null) return null;
  const id = Number(parts[2]);
  return id <= 2 ** 52 ? { kind: parts[1] as RecordKind, id } : null;
}
