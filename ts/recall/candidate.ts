// What the steps of a recall hand to each other: candidates before the gate, hits behind it.

import { EPISODE_LABEL, type Episode, episodeTime, type Memory } from "../domain/memory.js";
import type { Confidence } from "./confidence.js";

/** Which value keyed a row in ranking and gate; the first of these that a row has. */
export type Signal = "confidence" | "rsf" | "cosine" | "rrf";

/** A stored row with its text. */
export type RecordRow =
  | { readonly kind: "mem"; readonly memory: Memory }
  | { readonly kind: "ep"; readonly episode: Episode };

/** The agent's profile, put beside the stored rows. */
export interface ProfileRow {
  readonly kind: "profile";
  readonly content: string;
}

export type ListName = "near" | "far" | "episodes" | "memories";

/** Position in each list that named the record, 0 for the best. */
export type ListRanks = Readonly<Partial<Record<ListName, number>>>;

/** A record on its way through the steps. */
export interface Candidate {
  /** record key, see domain/record.ts */
  readonly key: number;
  readonly row: RecordRow;
  readonly ranks: ListRanks;
  /** raw cosine of its best block; null when no vector list holds it */
  readonly cosine: number | null;
  /** fused value of the mode, neighbours' shares included; null in cascade */
  readonly fused: number | null;
  /** part of `fused` that came from rows said next to it */
  readonly fromNeighbours: number;
  /** share of the query's rare words that its text holds, 0 to 1; null when it was not looked at */
  readonly coverage: number | null;
  /** how many exact identifiers of the query its text holds, of those that few rows hold; they come before any score */
  readonly exact: number;
  /** holds an identifier or number of the query that few rows hold */
  readonly holdsIdentifier: boolean;
  /** factor of the episode boundary, 1 = none */
  readonly penalty: number;
  readonly confidence: Confidence | null;
}

export interface MatchReason {
  readonly signal: Signal;
  readonly score: number;
  readonly cosine?: number;
  readonly rrf?: number;
  readonly rsf?: number;
}

/** A stretch of a row's stored text, offsets in code points, and how well it answers the query. */
export interface ScoredPassage {
  readonly start: number;
  readonly end: number;
  readonly score: number;
}

/** The passages of a row partition its stored text, which is an episode's without its label. */
export interface RowPassages {
  /** `blocks` by words and meaning, `lexical` by words alone, `start` when the text is one piece */
  readonly basis: "blocks" | "lexical" | "start";
  readonly passages: readonly ScoredPassage[];
}

/** A row of the answer, whole: readers' cuts are made in response/. */
export interface Hit {
  readonly row: RecordRow | ProfileRow;
  /** absent on rows that carry no score */
  readonly matchReason?: MatchReason;
  readonly confidence?: Confidence;
  /** only on rows for which the caller asked */
  readonly passages?: RowPassages;
}

const PROFILE_LABEL = "[Profile] ";

/** The text of a row as readers and exclusions see it. */
export function rowText(row: RecordRow | ProfileRow): string {
  if (row.kind === "mem") return row.memory.content;
  return row.kind === "ep" ? EPISODE_LABEL + row.episode.summary : PROFILE_LABEL + row.content;
}

/** The text that offsets refer to: an episode's without its label. */
export function storedText(row: RecordRow): string {
  return row.kind === "mem" ? row.memory.content : row.episode.summary;
}

/** The record's own id, which a memory and an episode may share. */
export function rowId(row: RecordRow): number {
  return row.kind === "mem" ? row.memory.id : row.episode.id;
}

/** The stamp that says when the row happened, as it was stored; "" when it names no moment. */
export function rowTime(row: RecordRow): string {
  return row.kind === "mem" ? row.memory.timestamp : episodeTime(row.episode);
}

/** What rows are ordered by; null for rows that carry no score. */
export function orderScore(candidate: Candidate): number | null {
  if (candidate.confidence !== null) return candidate.confidence.score;
  if (candidate.fused !== null) return candidate.fused * candidate.penalty;
  return candidate.cosine === null ? null : candidate.cosine * candidate.penalty;
}

/** Best first: exact identifiers, then the score; equal ones keep their order, rows without a score stand last. */
export function sortByScore(candidates: readonly Candidate[]): Candidate[] {
  const score = (candidate: Candidate): number => orderScore(candidate) ?? Number.NEGATIVE_INFINITY;
  return [...candidates].sort((a, b) => b.exact - a.exact || score(b) - score(a) || 0);
}
