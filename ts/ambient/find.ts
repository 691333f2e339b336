// Prompt -> rows with their evidence: a passive recall over the composed text, judged by the current prompt.
// Excluded tags are part of the scope, so an excluded row is no candidate anywhere.

import { dot } from "../domain/dot.js";
import { recordKey } from "../domain/record.js";
import { calibratedCosine } from "../embedding/embedder.js";
import { type Candidate, rowText } from "../recall/candidate.js";
import { rareIdentifiers } from "../recall/coverage.js";
import { rankCandidates } from "../recall/rank.js";
import type { RecallParts, RecallRequest } from "../recall/recall-parts.js";
import { retrieve } from "../recall/retrieve.js";
import { isTellingIdentifier } from "../text/identifiers.js";
import { foldText } from "../text/normalise.js";
import { boundedLexical } from "./bounded-lexical.js";
import { type Evidence, evidenceOf, weighPrompt } from "./evidence.js";
import type { Prompt } from "./prompt.js";
import { nearestBlock } from "./quantities.js";
import type { AmbientParts, AmbientRequest } from "./types.js";

export interface Found {
  /** by relevance, best first; rows that were not looked at are not among them */
  readonly candidates: readonly Judged[];
  /** vector of the composed text; null without one */
  readonly queryVector: Float32Array | null;
  readonly records: number;
  /** raw cosine of the composed text -> the scale that thresholds are written for */
  readonly calibrate: (raw: number) => number;
}

export interface Judged {
  readonly candidate: Candidate;
  /** relevance: fused score, lifted by what the row covers of the current prompt */
  readonly relevance: number;
  readonly evidence: Evidence;
  /** raw cosine of the composed text; null without a vector */
  readonly cosine: number | null;
  readonly holdsIdentifier: boolean;
}

/** Rows that are read and judged. */
const MAX_JUDGED = 16;
/** Rows by words that are read: more would only be read, not judged. */
const WORD_DEPTH = 30;
/** Rows that a search by words may touch: about 2 ms of work for FTS5. */
const MAX_POSTINGS = 2000;
const POOL_PER_ROW = 5;
const MIN_POOL = 10;

export async function find(prompt: Prompt, request: AmbientRequest, parts: AmbientParts): Promise<Found> {
  const { config } = parts.recall;
  const recall: RecallParts = {
    ...parts.recall,
    config: { ...config, recall: { ...config.recall, lexicalDepth: WORD_DEPTH } },
    lexical: boundedLexical(parts.recall.lexical, MAX_POSTINGS),
  };
  const limit = Math.max(request.directK * POOL_PER_ROW, MIN_POOL);
  const query: RecallRequest = {
    query: prompt.composed,
    scope: request.scope,
    limit,
    sourceId: null,
    excludeContents: [],
    deep: false,
    trace: false,
    passages: null,
  };
  const judgesComposed = prompt.kind === "connecting" || !prompt.hasHistory;
  const [retrieved, currentVector] = await Promise.all([
    retrieve(query, limit, recall),
    judgesComposed ? null : vectorOf(prompt.current, recall),
  ]);
  const ranked = rankCandidates(retrieved, query, recall).slice(0, MAX_JUDGED);
  const { queryVector } = retrieved;
  const judgeVector = judgesComposed ? queryVector : (currentVector ?? queryVector);
  const cosines = cosinesOf(ranked, queryVector, recall);
  const levels = judgeVector === queryVector ? cosines : allCosines(ranked, judgeVector, recall);
  const records = recall.lexical.documentCount();
  const frequencies = recall.lexical.documentFrequencies(prompt.terms);
  const words = weighPrompt(prompt.terms, prompt.subject, frequencies, records);
  const identifiers = rareIdentifiers(prompt.terms, frequencies, records).filter(isTellingIdentifier);
  const calibrate = calibrationFor(judgeVector, request, parts);
  const candidates = ranked.map((candidate): Judged => {
    const text = rowText(candidate.row);
    const cosine = levels.get(candidate.key);
    const evidence = evidenceOf(text, cosine === undefined ? null : calibrate(cosine), words);
    const folded = identifiers.length === 0 ? "" : foldText(text);
    return {
      candidate,
      relevance: (candidate.fused ?? 0) * candidate.penalty * (1 + evidence.coverage),
      evidence,
      cosine: cosines.get(candidate.key) ?? null,
      holdsIdentifier: identifiers.some((term) => folded.includes(term)),
    };
  });
  candidates.sort((a, b) => b.relevance - a.relevance);
  const calibrateComposed =
    judgeVector === queryVector ? calibrate : calibrationFor(queryVector, request, parts);
  return { candidates, queryVector, records, calibrate: calibrateComposed };
}

const SAMPLE_ROWS = 48;
const MIN_SAMPLE_ROWS = 8;

/**
 * Raw cosine -> the scale that thresholds are written for. The level of unrelated texts is the store's measured
 * one; before that, for embedders that have such a level, the median of the query with the newest rows: short
 * texts lie far below the level of long ones.
 */
function calibrationFor(
  query: Float32Array | null,
  request: AmbientRequest,
  parts: AmbientParts,
): (raw: number) => number {
  const { card } = parts.recall.embedder;
  const measured = parts.recall.levels(request.scope).unrelated;
  const own =
    measured ?? (card.unrelatedCosine === null || query === null ? null : sampled(query, request, parts));
  return (raw) => calibratedCosine(own === null ? card : { unrelatedCosine: own }, raw);
}

function sampled(query: Float32Array, request: AmbientRequest, parts: AmbientParts): number | null {
  const newest = parts.recall.newestMemories(request.scope, null, SAMPLE_ROWS, 0);
  const vectors = parts.vectorsOf(newest.map(({ id }) => recordKey("mem", id)));
  const cosines = [...vectors.values()].flatMap((blocks) => {
    const block = nearestBlock(blocks, query);
    return block === null ? [] : [dot(block, query)];
  });
  if (cosines.length < MIN_SAMPLE_ROWS) return null;
  return cosines.sort((a, b) => a - b)[Math.floor(cosines.length / 2)] ?? null;
}

async function vectorOf(text: string, recall: RecallParts): Promise<Float32Array | null> {
  if (recall.embedder.state().status === "off") return null;
  try {
    return await recall.embedder.embedQuery(text);
  } catch {
    // The composed text met the same backend and reports it.
    return null;
  }
}

/** Cosines of the vector lists, and of the stored vectors for rows that only words found. */
function cosinesOf(
  candidates: readonly Candidate[],
  query: Float32Array | null,
  recall: RecallParts,
): Map<number, number> {
  const known = new Map(candidates.flatMap(({ key, cosine }) => (cosine === null ? [] : [[key, cosine]])));
  if (query === null) return known;
  const missing = candidates.map(({ key }) => key).filter((key) => !known.has(key));
  if (missing.length === 0) return known;
  for (const [key, cosine] of recall.vectors()?.cosinesOf(missing, query) ?? []) known.set(key, cosine);
  return known;
}

function allCosines(
  candidates: readonly Candidate[],
  query: Float32Array | null,
  recall: RecallParts,
): Map<number, number> {
  const keys = candidates.map(({ key }) => key);
  return (query === null ? null : recall.vectors()?.cosinesOf(keys, query)) ?? new Map();
}
