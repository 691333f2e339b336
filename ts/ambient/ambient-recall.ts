// Ambient recall, top to bottom:
//   prompt -> subject, connecting or small talk -> passive recall of the composed text -> evidence of each row
//          -> gate -> direct rows (successors in the place of superseded ones) -> lensing -> persona
//          -> reasons and contradictions
// Nothing is written and nothing that ranks is changed.

import { recordKey } from "../domain/record.js";
import type { RecordRow } from "../recall/candidate.js";
import { rowsOfKeys } from "../recall/retrieve.js";
import { countChars } from "../text/characters.js";
import { describer } from "./describe-row.js";
import { novelty, pickDirect } from "./direct.js";
import { type Edges, reasonOf, tensionsOf } from "./edges.js";
import { type Found, find, type Judged } from "./find.js";
import { type AmbientOpener, type GateLevels, gateLevels, openerOf, weightOf } from "./gate.js";
import { lookAround } from "./look-around.js";
import { pickPersona } from "./persona.js";
import { type Prompt, readPrompt } from "./prompt.js";
import { massOf } from "./quantities.js";
import { currentVersions, lensingRows } from "./shown-rows.js";
import {
  type AmbientOutcome,
  type AmbientParts,
  type AmbientRequest,
  type AmbientTrace,
  NO_SLOTS,
  type PersonaRow,
} from "./types.js";

export async function ambientRecall(request: AmbientRequest, parts: AmbientParts): Promise<AmbientOutcome> {
  const prompt = readPrompt(request.query, request.history);
  if (countChars(prompt.composed) < request.minChars) return closed("short", prompt);
  if (prompt.kind === "none") return closed("small talk", prompt);
  const found = await find(prompt, request, parts);
  const gate = judge(found, prompt, request);
  if (gate.outcome !== "open") return { ...NO_SLOTS, terms: prompt.terms, trace: gate };
  return fill(found, prompt, gate, request, parts);
}

function closed(outcome: string, prompt: Prompt): AmbientOutcome {
  const trace = {
    outcome,
    openedBy: null,
    coverage: 0,
    cosine: null,
    surprise: 0,
    weight: 0,
    level: 0,
    candidates: 0,
    composed: prompt.composed,
  };
  return { ...NO_SLOTS, terms: prompt.terms, trace };
}

/** The gate over all rows that were looked at. */
function judge(found: Found, prompt: Prompt, request: AmbientRequest): AmbientTrace {
  const levels = gateLevels(found.records, prompt.kind === "connecting");
  const openers = found.candidates.map((row) => opener(row, levels));
  const cosines = found.candidates.flatMap(({ evidence }) =>
    evidence.level === null ? [] : [evidence.level],
  );
  const cosine = cosines.length === 0 ? null : Math.max(...cosines);
  const isBelow = request.minScore !== null && (cosine ?? 0) < request.minScore;
  const openedBy = openers.find((by) => by !== null) ?? null;
  return {
    outcome:
      openedBy === null
        ? found.candidates.length === 0
          ? "empty"
          : "evidence"
        : isBelow
          ? "min_score"
          : "open",
    openedBy,
    coverage: Math.max(0, ...found.candidates.map(({ evidence }) => evidence.coverage)),
    cosine,
    surprise: Math.max(0, ...found.candidates.map(({ evidence }) => evidence.surprise)),
    weight: Math.max(0, ...found.candidates.map(({ evidence }) => weightOf(evidence))),
    level: levels.evidence,
    candidates: found.candidates.length,
    composed: prompt.composed,
  };
}

function opener(row: Judged, levels: GateLevels): AmbientOpener {
  return row.holdsIdentifier ? "identifier" : openerOf(row.evidence, levels);
}

/** A second row must have at least this share of the evidence of the best one. */
const COMPANION_SHARE = 0.6;

/** Rows that may stand in the block: those with evidence of their own. */
function worthShowing(found: Found, prompt: Prompt): Judged[] {
  const levels = gateLevels(found.records, prompt.kind === "connecting");
  const strength = ({ evidence, holdsIdentifier }: Judged): number =>
    Math.max(
      holdsIdentifier ? 1 : 0,
      evidence.coverage,
      evidence.surprise / levels.surprise / 2,
      evidence.level === null ? 0 : (evidence.level - 0.4) / (levels.meaning - 0.4) / 2,
    );
  const best = Math.max(0, ...found.candidates.map(strength));
  return found.candidates.filter((row) => strength(row) >= best * COMPANION_SHARE);
}

function fill(
  found: Found,
  prompt: Prompt,
  trace: AmbientTrace,
  request: AmbientRequest,
  parts: AmbientParts,
): AmbientOutcome {
  const now = parts.recall.clock.now();
  const uses = parts.recall.uses(found.candidates.map(({ candidate }) => candidate.key));
  const options = { shown: request.shown, noveltyDecay: parts.config.noveltyDecay };
  const picked = pickDirect(worthShowing(found, prompt), {
    ...options,
    directK: request.directK,
    massOf: (key) => massOf(uses.get(key), now),
  });
  const look = lookAround(picked, request, parts);
  const direct = currentVersions(picked, look, request, parts);
  const lensed = lensingRows(direct, look, found, request, parts);
  const persona = personaOf(found, request, parts);
  const shownKeys = [...direct.map(({ key }) => key), ...lensed.map(({ key }) => key)];
  const edges = edgesOf(shownKeys, request, parts);
  const describe = describer(found, look, persona, request, parts);
  const rows = {
    direct: direct.map((row) => ({ ...describe(row), because: because(row.key, edges, parts) })),
    lensing: lensed.map((row) => ({ ...describe(row), because: because(row.key, edges, parts) })),
  };
  const tensions = parts.config.tensionEnabled ? tensionsOf([...rows.direct, ...rows.lensing], edges) : [];
  return { ...rows, tensions, persona, trace, terms: prompt.terms };
}

function because(key: number, edges: Edges, parts: AmbientParts): RecordRow | null {
  return parts.config.reasoningEnabled ? reasonOf(key, edges) : null;
}

/** Declared personas are few; more than this are not looked at. */
function personaOf(found: Found, request: AmbientRequest, parts: AmbientParts): PersonaRow | null {
  const { config, recall } = parts;
  if (!config.personaEnabled || found.queryVector === null) return null;
  const personas = parts.personas(request.scope);
  if (personas.length === 0) return null;
  const keys = personas.map(({ id }) => recordKey("mem", id));
  const visible = new Set(keys);
  const replaced = new Set(
    parts
      .relationsOf(keys)
      .filter(({ type, from }) => type === "supersedes" && visible.has(from))
      .map(({ to }) => to),
  );
  const now = recall.clock.now();
  const uses = recall.uses(keys);
  return pickPersona(
    personas.filter(({ id }) => !replaced.has(recordKey("mem", id))),
    parts.vectorsOf(keys),
    found.queryVector,
    {
      poolSize: config.personaPoolSize,
      minRelevance: config.personaMinRelevance,
      massWeight: config.personaMassWeight,
      calibrate: found.calibrate,
      massOf: (key) => massOf(uses.get(key), now),
      noveltyOf: (key) => novelty(key, { shown: request.shown, noveltyDecay: config.noveltyDecay }),
    },
  );
}

function edgesOf(keys: readonly number[], request: AmbientRequest, parts: AmbientParts): Edges {
  const relations = keys.length === 0 ? [] : parts.relationsOf(keys);
  const ends = new Set(relations.flatMap(({ from, to }) => [from, to]));
  return { relations, rows: rowsOfKeys(ends, request.scope, null, parts.recall) };
}
