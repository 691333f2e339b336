// Slots -> the literal text of the block. Kept within the budget by leaving out the second lensing row, the
// first one, and the second direct row, in this order; contradictions stay.

import { CLOSE_TAG, OPEN_TAG } from "../domain/recalled-block.js";
import { formatRef, recordOfKey } from "../domain/record.js";
import { withoutSecrets } from "../domain/secrets.js";
import type { RecordRow } from "../recall/candidate.js";
import { countChars } from "../text/characters.js";
import { excerptLine } from "./escape.js";
import { passageOf } from "./passage.js";
import {
  type AmbientRow,
  type AmbientSlots,
  type Breakdown,
  NO_SLOTS,
  type PersonaRow,
  type Tension,
} from "./types.js";
import type { Wording } from "./wording.js";

export interface BlockOptions {
  readonly wording: Wording;
  readonly maxChars: number;
  readonly excerptChars: number;
  readonly exposeBreakdown: boolean;
  /** terms of the prompt: a long text is shown where it speaks of them */
  readonly terms: readonly string[];
}

export interface Block {
  readonly text: string;
  /** what is in it after the budget */
  readonly slots: AmbientSlots;
}

/** The whole block, or the sentinel when there is nothing to show. */
export function renderBlock(slots: AmbientSlots, options: BlockOptions): Block {
  if (slots.direct.length + slots.lensing.length === 0) {
    return { text: options.wording.nothing, slots: NO_SLOTS };
  }
  for (const { tried, excerptChars } of shrinking(slots, options.excerptChars)) {
    const text = toText(tried, { ...options, excerptChars });
    if (countChars(text) <= options.maxChars) return { text, slots: tried };
  }
  return { text: options.wording.nothing, slots: NO_SLOTS };
}

interface Attempt {
  readonly tried: AmbientSlots;
  readonly excerptChars: number;
}

/** The slots with less and less in them; contradictions stay, also those of rows that were left out. */
function* shrinking(slots: AmbientSlots, excerptChars: number): Generator<Attempt> {
  for (let rows = slots.lensing.length; rows >= 0; rows--)
    yield { tried: { ...slots, lensing: slots.lensing.slice(0, rows) }, excerptChars };
  for (let rows = slots.direct.length - 1; rows >= 1; rows--)
    yield { tried: { ...slots, lensing: [], direct: slots.direct.slice(0, rows) }, excerptChars };
  // Nothing is left to leave out but words.
  const smallest = {
    ...slots,
    lensing: [],
    direct: slots.direct.slice(0, 1),
    tensions: slots.tensions.slice(0, 2),
  };
  for (const chars of [excerptChars, 120, 60])
    yield { tried: smallest, excerptChars: Math.min(chars, excerptChars) };
}

function toText(slots: AmbientSlots, options: BlockOptions): string {
  const { wording } = options;
  const lines = [OPEN_TAG, wording.intro];
  if (slots.direct.length > 0) {
    lines.push("", wording.direct);
    for (const [i, row] of slots.direct.entries()) lines.push(...rowLines(` ${i + 1}. `, row, options));
  }
  if (slots.lensing.length > 0) {
    lines.push("", wording.lensing(slots.lensing.length));
    for (const row of slots.lensing) lines.push(...rowLines(" · ", row, options));
  }
  if (slots.tensions.length > 0) {
    lines.push("", wording.tensions);
    for (const tension of slots.tensions) lines.push(...tensionLines(tension, options));
  }
  if (slots.persona !== null) lines.push("", wording.persona, personaLine(slots.persona, options));
  lines.push(manifest(slots), CLOSE_TAG);
  return lines.join("\n");
}

function rowLines(start: string, row: AmbientRow, options: BlockOptions): string[] {
  const suffix = options.exposeBreakdown ? breakdownSuffix(row.breakdown) : "";
  const lines = [`${start}[${annotation(row)}] ${excerptOf(row.row, options)}${suffix}`];
  if (row.because !== null) lines.push(`    ← because ${excerptOf(row.because, options)}`);
  return lines;
}

function tensionLines({ row, other }: Tension, options: BlockOptions): string[] {
  return [` · ${excerptOf(row, options)}`, `   ⇔ contradicts: ${excerptOf(other, options)}`];
}

function personaLine({ memory, kind, cosine, mass }: PersonaRow, options: BlockOptions): string {
  const text = excerptLine(memory.content, options.excerptChars);
  const suffix = options.exposeBreakdown
    ? suffixOf([`raw=${cosine.toFixed(3)}`, `mass=${mass.toFixed(2)}`])
    : "";
  return ` · ${kind}: ${text}${suffix}`;
}

/** The text that a row is shown with, cut to the excerpt's length. */
export function excerptOf(
  row: RecordRow,
  { excerptChars, terms }: Pick<BlockOptions, "excerptChars" | "terms">,
): string {
  const text = row.kind === "mem" ? row.memory.content : row.episode.summary;
  // A passage could start in the middle of a key that has several lines.
  return excerptLine(passageOf(withoutSecrets(text), terms, excerptChars), excerptChars);
}

const MAX_SOURCE_CHARS = 40;

/** What the annotation calls a row: its kind, an episode, or who said it. */
export function annotationSource(row: RecordRow): string {
  if (row.kind === "ep") return "episode";
  const { kind, source } = row.memory;
  if (kind !== "note") return kind;
  if (typeof source === "string") return plainName(source) || kind;
  const type = typeof source["type"] === "string" ? source["type"].toLowerCase() : "";
  const name = typeof source["name"] === "string" ? source["name"] : "";
  return plainName(`${type} ${name}`) || kind;
}

/** Brackets and dots are the annotation's own. */
function plainName(text: string): string {
  return excerptLine(withoutSecrets(text).replace(/[[\]·]/g, " "), MAX_SOURCE_CHARS);
}

function annotation(row: AmbientRow): string {
  const parts = [annotationSource(row.row)];
  if (row.certainty !== null) parts.push(`certainty ${row.certainty.toFixed(2)}`);
  parts.push(`${Math.floor(row.ageDays)}d`);
  if (row.gap !== null) parts.push(`gap ${row.gap < 0 ? "" : "+"}${row.gap.toFixed(2)}`);
  if (row.resonance !== null) parts.push(`resonance ${row.resonance.toFixed(2)}`);
  if (row.replaces !== null) parts.push(`supersedes ${formatRef(recordOfKey(row.replaces))}`);
  return parts.join(" · ");
}

function breakdownSuffix(breakdown: Breakdown): string {
  const { rawCosine, virtualCosine, wave, mass, personaProximity, byWords } = breakdown;
  return suffixOf([
    ...part("raw", rawCosine, 3),
    ...part("virt", virtualCosine, 3),
    ...part("wave", wave, 3),
    ...part("mass", mass, 2),
    ...part("persona", personaProximity, 2),
    ...(byWords ? ["bm25"] : []),
  ]);
}

function part(name: string, value: number, digits: number): string[] {
  return value === 0 ? [] : [`${name}=${value.toFixed(digits)}`];
}

function suffixOf(parts: readonly string[]): string {
  return parts.length === 0 ? "" : `  [${parts.join(" ")}]`;
}

/** What was shown, by reference; empty slots are left out. */
function manifest({ direct, lensing, persona }: AmbientSlots): string {
  const refs = (keys: readonly number[]): string => keys.map((key) => formatRef(recordOfKey(key))).join(",");
  const slots = [
    ["direct", direct.map(({ key }) => key)],
    ["lensing", lensing.map(({ key }) => key)],
    ["persona", persona === null ? [] : [persona.key]],
  ] as const;
  const filled = slots.filter(([, keys]) => keys.length > 0).map(([name, keys]) => `${name}=${refs(keys)}`);
  return `<!-- ambient-ids ${filled.join(" ")} -->`;
}
