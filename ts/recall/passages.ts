// Which passages of a long row answer the query: rare words and meaning together, and a share of what stands
// beside them. Only scores are made here; what is shown of them is decided in response/.

import { dot } from "../domain/dot.js";
import { recordKey } from "../domain/record.js";
import type { EmbeddedBlock } from "../store/embeddings.js";
import { charSlicer, countChars, type Span } from "../text/characters.js";
import { excerptSpans } from "../text/excerpt-spans.js";
import { MAX_SENTENCE_CHARS, splitSentences } from "../text/sentences.js";
import { TermMatcher } from "../text/term-matcher.js";
import { type Hit, type RowPassages, rowId, storedText } from "./candidate.js";
import { weighWords } from "./coverage.js";
import type { PassageRequest, RecallParts } from "./recall-parts.js";
import type { LexicalQuery } from "./retrievers/lexical.js";

/** What a recall knows about its query. */
export interface PassageQuery {
  readonly plan: LexicalQuery;
  readonly queryVector: Float32Array | null;
}

/**
 * Weight of meaning beside the share of words, per standard deviation inside the row: cosines of different
 * embedders have different spreads. The vectors are those stored for blocks: embedding every passage of the
 * answer gains 0.1 point on LoCoMo and costs more than the rest of the recall.
 */
const MEANING_WEIGHT = 0.15;
/** A passage beside one that answers belongs to it more often than not: question and answer, name and number. */
const NEIGHBOUR_SHARE = 0.3;

interface Passage extends Span {
  readonly text: string;
}

interface LongRow {
  readonly hit: Hit;
  readonly key: number;
  readonly passages: readonly Passage[];
  readonly isOnePiece: boolean;
}

/** The hits in their order, those that were asked for with their passages' scores. */
export function withPassages(
  hits: readonly Hit[],
  query: PassageQuery,
  request: PassageRequest,
  parts: RecallParts,
): readonly Hit[] {
  const wanted = request.of(hits);
  const rows = hits.flatMap((hit) => (wanted.has(hit) ? longRow(hit, request.maxChars) : []));
  if (rows.length === 0) return hits;
  const words = wordScores(rows, query.plan);
  const meanings = meaningScores(rows, query.queryVector, parts);
  const found = new Map<Hit, RowPassages>();
  for (const row of rows) {
    const meaning = meanings.get(row) ?? null;
    const own = row.passages.map((passage, i) => {
      return (words.get(passage) ?? 0) + MEANING_WEIGHT * (meaning?.[i] ?? 0);
    });
    const scores = withNeighbours(own);
    found.set(row.hit, {
      basis: row.isOnePiece ? "start" : meaning === null ? "lexical" : "blocks",
      passages: row.passages.map(({ start, end }, i) => ({ start, end, score: scores[i] ?? 0 })),
    });
  }
  return hits.map((hit) => {
    const passages = found.get(hit);
    return passages === undefined ? hit : { ...hit, passages };
  });
}

function longRow(hit: Hit, maxChars: number): LongRow[] {
  const { row } = hit;
  if (row.kind === "profile") return [];
  const text = storedText(row);
  const isOnePiece = countChars(text) <= MAX_SENTENCE_CHARS && splitSentences(text).length === 1;
  const slice = charSlicer(text);
  const passages = excerptSpans(text, maxChars).map(({ start, end }) => {
    return { start, end, text: slice(start, end) };
  });
  return [{ hit, key: recordKey(row.kind, rowId(row)), passages, isOnePiece }];
}

/**
 * The share of the query's words that a passage holds, rare ones weighing more. Rare in the store tells rows
 * apart, rare among these passages tells passages apart: both count.
 */
function wordScores(rows: readonly LongRow[], plan: LexicalQuery): Map<Passage, number> {
  const passages = rows.flatMap((row) => row.passages);
  const matcher = new TermMatcher(plan.terms, plan.substrings);
  const held = passages.map(({ text }) => matcher.match(text));
  const terms = [...plan.terms, ...plan.substrings];
  const counts = new Map(terms.map((term) => [term, held.filter((found) => found.has(term)).length]));
  const here = weighWords(terms, counts, passages.length);
  const inStore = weighWords(terms, plan.frequencies, plan.records);
  const total = here.total + inStore.total;
  const weight = (term: string): number => (here.weights.get(term) ?? 0) + (inStore.weights.get(term) ?? 0);
  const shareOf = (found: ReadonlySet<string>): number =>
    total > 0 ? [...found].reduce((sum, term) => sum + weight(term), 0) / total : 0;
  return new Map(passages.map((passage, i) => [passage, shareOf(held[i] ?? new Set())]));
}

/** Each row's cosines, as standard deviations from its own mean; rows without stored vectors are absent. */
function meaningScores(
  rows: readonly LongRow[],
  query: Float32Array | null,
  parts: RecallParts,
): Map<LongRow, readonly number[]> {
  const blocks = query === null ? undefined : parts.vectors()?.blocksOf(rows.map(({ key }) => key));
  if (query === null || blocks === undefined) return new Map();
  const { centre } = parts.embedder.card;
  const centred = withoutCentre(query, centre);
  return new Map(
    rows.flatMap((row) => {
      const stored = blocks.get(row.key) ?? [];
      const cosines = new Map(
        stored.map((block) => [block, cosine(centred, withoutCentre(block.vector, centre))]),
      );
      const values = row.passages.map((passage) => {
        const block = blockAround(passage, stored);
        return block === null ? null : (cosines.get(block) ?? null);
      });
      return stored.length === 0 ? [] : [[row, standardise(values)] as const];
    }),
  );
}

function blockAround({ start, end }: Span, blocks: readonly EmbeddedBlock[]): EmbeddedBlock | null {
  const middle = (start + end) / 2;
  return blocks.find(({ startChar, endChar }) => startChar <= middle && middle < endChar) ?? null;
}

function withoutCentre(vector: Float32Array, centre: Float32Array | null): Float32Array {
  if (centre === null) return vector;
  const share = dot(vector, centre);
  return vector.map((value, i) => value - share * (centre[i] ?? 0));
}

function cosine(a: Float32Array, b: Float32Array): number {
  const norm = Math.sqrt(dot(a, a) * dot(b, b));
  return norm > 0 ? dot(a, b) / norm : 0;
}

/** Passages without a vector stand at the mean. */
function standardise(values: readonly (number | null)[]): number[] {
  const known = values.filter((value) => value !== null);
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const deviation = Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / known.length);
  return values.map((value) => (value === null || deviation < 1e-9 ? 0 : (value - mean) / deviation));
}

function withNeighbours(scores: readonly number[]): number[] {
  const share = (i: number): number => NEIGHBOUR_SHARE * Math.max(0, scores[i] ?? 0);
  return scores.map((score, i) => score + share(i - 1) + share(i + 1));
}
