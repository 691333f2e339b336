// Recall, top to bottom:
//   query -> lists (near and far vectors, words of episodes and memories) -> rows, without excluded ones
//         -> fusion with neighbours' shares -> episode penalty -> confidence (when on) -> order, exact identifiers first
//         -> gate -> autocut -> profile row -> cut to limit -> best last -> passages of long rows (when asked)
// Nothing is written: a recall changes no row, and its use is counted after the answer.

import type { Memory } from "../domain/memory.js";
import { sourceFilter } from "../domain/scope.js";
import { storageTimeMs } from "../domain/time.js";
import { applyAutocut } from "./autocut.js";
import { type Candidate, type Hit, sortByScore } from "./candidate.js";
import { applyEpisodePenalty } from "./episode-penalty.js";
import { exclusion } from "./exclude.js";
import { toHit } from "./hit.js";
import { passGate } from "./pass-gate.js";
import { withPassages } from "./passages.js";
import { profileConfidence, profileRow } from "./profile.js";
import { rankCandidates } from "./rank.js";
import type { RecallOutcome, RecallParts, RecallRequest } from "./recall-parts.js";
import { retrieve } from "./retrieve.js";
import { confidenceContext, withConfidence } from "./score-confidence.js";
import { StageClock, traceRows } from "./trace.js";

export async function recall(request: RecallRequest, parts: RecallParts): Promise<RecallOutcome> {
  const { config } = parts;
  const limit = Math.min(Math.max(0, Math.floor(request.limit)), config.recall.window);
  const nothing: RecallOutcome = { hits: [], gateFallback: false, degraded: null, trace: null };
  if (limit === 0) return nothing;
  if (request.query.trim() === "") return { ...nothing, hits: newest(request, limit, parts) };

  const clock = new StageClock();
  const retrieved = await retrieve(request, limit, parts, clock);
  const { episodePenalty } = config.recall;
  const boundary = episodePenalty.enabled ? episodeBoundary(request, parts) : null;
  const leastFactor = boundary === null ? 1 : episodePenalty.floor;
  const found = rankCandidates(retrieved, request, parts, { limit, leastFactor });
  clock.mark("fuse", found.length);
  const penalised = applyEpisodePenalty(found, boundary, episodePenalty);
  const scored = withConfidence(penalised, retrieved.queryVector, request, parts);
  const ordered = scored.some(isScored) ? sortByScore(scored) : scored;
  clock.mark("score", ordered.length);
  const gate = passGate(ordered, retrieved.plan, request, parts);
  clock.mark("gate", gate.passed.length);
  const kept = gate.fallback ? gate.passed : applyAutocut(gate.passed, config.recall.autocut);
  clock.mark("autocut", kept.length);
  const rows = cut(kept, limit, request, parts).reverse();
  const hits = request.passages === null ? rows : withPassages(rows, retrieved, request.passages, parts);
  clock.mark("passages", hits.length);
  const trace = request.trace
    ? {
        stages: clock.stages,
        openedBy: gate.openedBy,
        levels: gate.levels,
        rows: traceRows(kept.slice(0, limit)),
      }
    : null;
  return { hits, gateFallback: gate.fallback, degraded: retrieved.degraded, trace };
}

/** Cascade keeps the order of its stages unless confidence orders. */
function isScored(candidate: Candidate): boolean {
  return candidate.fused !== null || candidate.confidence !== null;
}

/** When the newest episode of the scope was stored, ms since the epoch; null where there is none. */
function episodeBoundary({ scope }: RecallRequest, parts: RecallParts): number | null {
  const newestAt = parts.newestEpisodeAt(scope);
  return newestAt === null ? null : storageTimeMs(newestAt);
}

/** The best `limit` rows, the profile among them: last without a score, by its confidence with one. */
function cut(
  candidates: readonly Candidate[],
  limit: number,
  request: RecallRequest,
  parts: RecallParts,
): Hit[] {
  const { recall } = parts.config;
  const hits = candidates.map((candidate) => toHit(candidate, recall.mode));
  const profile = profileOf(request, parts);
  if (profile === null) return hits.slice(0, limit);
  if (!recall.confidence.enabled) return [...hits, { row: profile }].slice(0, limit);
  const confidence = profileConfidence(confidenceContext(request, parts), recall.confidence);
  const hit: Hit = {
    row: profile,
    confidence,
    matchReason: { signal: "confidence", score: confidence.score },
  };
  const exact = candidates.filter((candidate) => candidate.exact > 0).length;
  const at = hits.findIndex((other, i) => i >= exact && (other.confidence?.score ?? 0) < confidence.score);
  hits.splice(at < 0 ? hits.length : at, 0, hit);
  return hits.slice(0, limit);
}

function profileOf(request: RecallRequest, parts: RecallParts) {
  const { agentId } = request.scope;
  if (agentId === null) return null;
  const pool = parts.pool(request.scope);
  return profileRow(parts.profile(agentId), pool.memories + pool.episodes);
}

/** An empty query asks for the newest memories; the profile, where there is one, is then the best row. */
function newest(request: RecallRequest, limit: number, parts: RecallParts): Hit[] {
  const isExcluded = exclusion(request.excludeContents);
  const kept: Memory[] = [];
  for (let offset = 0; kept.length < limit; offset += limit) {
    const page = parts.newestMemories(request.scope, sourceFilter(request.sourceId), limit, offset);
    kept.push(...page.filter((memory) => !isExcluded(memory.content)));
    if (page.length < limit) break;
  }
  const profile = profileOf(request, parts);
  const hits: Hit[] = kept.map((memory) => ({ row: { kind: "mem", memory } }));
  return [...(profile === null ? [] : [{ row: profile }]), ...hits].slice(0, limit).reverse();
}
