// Declared edges between records: what follows from what, what replaces what, what speaks against what.

export const RELATION_TYPES = [
  "derived_from",
  "supersedes",
  "contradicts",
  "supports",
  "relates_to",
] as const;
export type RelationType = (typeof RELATION_TYPES)[number];

/** `from` is derived from, supersedes, … `to`; both are record keys. */
export interface Relation {
  readonly from: number;
  readonly to: number;
  readonly type: RelationType;
  /** storage stamp, UTC */
  readonly createdAt: string;
}
