// Settings of ambient recall: how the service fills the block, and what the hook passes on. Names as in the
// seed (`GAOTTT_AMBIENT_*`); those without a counterpart there start with CPERSONA_.

import type { SettingReader } from "./reader.js";

export interface AmbientConfig {
  /** `CPERSONA_AMBIENT_LANG`: `ja` (default, the seed's wording), `en`, `auto` (by the prompt's script) */
  readonly lang: "ja" | "en" | "auto";
  /** `CPERSONA_AMBIENT_MAX_CHARS`: longest block, default 2400 */
  readonly maxChars: number;
  /** `GAOTTT_AMBIENT_EXCERPT_CHARS`: characters of a row's text, default 240 */
  readonly excerptChars: number;
  /** `GAOTTT_AMBIENT_DIRECT_K`: direct rows when the call names no number, default 2 */
  readonly directK: number;
  /** `GAOTTT_AMBIENT_NOVELTY_DECAY`: what a row keeps for each showing lately, default 0.7, 1 = off */
  readonly noveltyDecay: number;
  /** `GAOTTT_AMBIENT_NOVELTY_TURNS`: answers of the session that count as lately, default 5 */
  readonly noveltyTurns: number;
  /** `GAOTTT_AMBIENT_LENSING_ENABLED`, `_MAX_K`, `_MIN_SCORE`, `_MIN_GAP`, `_RESONANCE_SCALE`: default on, 2, 0.5, 0.05, 4 */
  readonly lensingEnabled: boolean;
  readonly lensingMaxK: number;
  readonly lensingMinScore: number;
  readonly lensingMinGap: number;
  readonly lensingResonanceScale: number;
  /** `GAOTTT_AMBIENT_REASONING_ENABLED`, `GAOTTT_AMBIENT_TENSION_ENABLED`: default on */
  readonly reasoningEnabled: boolean;
  readonly tensionEnabled: boolean;
  /** `GAOTTT_AMBIENT_PERSONA_ENABLED`, `_POOL_SIZE`, `_MIN_RELEVANCE`, `_MASS_WEIGHT`: default on, 10, 0.65, 0.3 */
  readonly personaEnabled: boolean;
  readonly personaPoolSize: number;
  readonly personaMinRelevance: number;
  readonly personaMassWeight: number;
  /** certainty is the confidence value, and is there when that is on */
  readonly certaintyShown: boolean;
  readonly hook: AmbientHookConfig;
}

/** What the hook sends with each prompt, and how it behaves. */
export interface AmbientHookConfig {
  /** `GAOTTT_AMBIENT_RECALL`: `0`, `false`, `no`, `off` or empty switches the hook off */
  readonly enabled: boolean;
  /** `CPERSONA_AMBIENT_URL`: asks this server instead of opening the database; default "" */
  readonly url: string;
  /** `CPERSONA_AUTH_TOKEN`, alias `CPERSONA_HTTP_AUTH_TOKEN`: bearer token for that server */
  readonly token: string;
  /** `GAOTTT_AMBIENT_TIMEOUT`: seconds until the hook gives up, default 2 */
  readonly timeoutMs: number;
  /** `GAOTTT_AMBIENT_MIN_CHARS`: least characters of the composed text, default 12 */
  readonly minChars: number;
  /** `GAOTTT_AMBIENT_MIN_SCORE`: floor on the best row's calibrated cosine, default none */
  readonly minScore: number | null;
  /** `GAOTTT_AMBIENT_EXCLUDE_TAGS`: comma-separated, default `smoke-test,test`; empty excludes nothing */
  readonly excludeTags: readonly string[];
  /** `GAOTTT_AMBIENT_EXPOSE_BREAKDOWN`: default off */
  readonly exposeBreakdown: boolean;
  /** `GAOTTT_AMBIENT_HISTORY_TURNS`: earlier prompts to compose with, default 2, 0 = off */
  readonly historyTurns: number;
  /** `GAOTTT_HOOK_ANTI_RESTACK`: a prompt that holds a block already gets none, default on */
  readonly antiRestack: boolean;
  /** `GAOTTT_AMBIENT_SHOW_COMPOSED_QUERY`: adds the composed text as a comment, default off */
  readonly showComposed: boolean;
  /** `GAOTTT_HOOK_OUTPUT`: `text` (default) or `codex` / `codex-json` for that program's envelope */
  readonly output: "text" | "codex";
  /** `CPERSONA_AMBIENT_LOG`: file that gets one line of JSON a prompt, default "" = none */
  readonly logFile: string;
}

const GAOTTT = "GAOTTT_AMBIENT_";

export function readAmbient(read: SettingReader, certaintyShown: boolean): AmbientConfig {
  const share = { min: 0, max: 1 };
  return {
    lang: read.choice("CPERSONA_AMBIENT_LANG", ["ja", "en", "auto"], "ja"),
    maxChars: read.integer("CPERSONA_AMBIENT_MAX_CHARS", { fallback: 2400, min: 300, max: 100_000 }),
    excerptChars: read.integer(`${GAOTTT}EXCERPT_CHARS`, { fallback: 240, min: 20, max: 4000 }),
    directK: read.integer(`${GAOTTT}DIRECT_K`, { fallback: 2, min: 1, max: 10 }),
    noveltyDecay: read.number(`${GAOTTT}NOVELTY_DECAY`, { fallback: 0.7, ...share }),
    noveltyTurns: turns(read, `${GAOTTT}NOVELTY_TURNS`, 5),
    lensingEnabled: read.boolean(`${GAOTTT}LENSING_ENABLED`, true),
    lensingMaxK: read.integer(`${GAOTTT}LENSING_MAX_K`, { fallback: 2, min: 0, max: 10 }),
    lensingMinScore: read.number(`${GAOTTT}LENSING_MIN_SCORE`, { fallback: 0.5, min: -1, max: 1 }),
    lensingMinGap: read.number(`${GAOTTT}LENSING_MIN_GAP`, { fallback: 0.05, min: -1, max: 1 }),
    lensingResonanceScale: read.number(`${GAOTTT}LENSING_RESONANCE_SCALE`, { fallback: 4, min: 0 }),
    reasoningEnabled: read.boolean(`${GAOTTT}REASONING_ENABLED`, true),
    tensionEnabled: read.boolean(`${GAOTTT}TENSION_ENABLED`, true),
    personaEnabled: read.boolean(`${GAOTTT}PERSONA_ENABLED`, true),
    personaPoolSize: read.integer(`${GAOTTT}PERSONA_POOL_SIZE`, { fallback: 10, min: 1 }),
    personaMinRelevance: read.number(`${GAOTTT}PERSONA_MIN_RELEVANCE`, { fallback: 0.65, min: -1, max: 2 }),
    personaMassWeight: read.number(`${GAOTTT}PERSONA_MASS_WEIGHT`, { fallback: 0.3, min: 0, max: 4 }),
    certaintyShown,
    hook: readHook(read),
  };
}

function readHook(read: SettingReader): AmbientHookConfig {
  const minScore = read.number(`${GAOTTT}MIN_SCORE`, { fallback: Number.NEGATIVE_INFINITY });
  const output = read.choice("GAOTTT_HOOK_OUTPUT", ["text", "codex", "codex-json"], "text");
  const isOff = ["0", "false", "no", "off", ""].includes(
    (read.raw(`${GAOTTT}RECALL`) ?? "1").trim().toLowerCase(),
  );
  return {
    enabled: !isOff,
    url: read.text("CPERSONA_AMBIENT_URL") ?? "",
    token: read.text("CPERSONA_AUTH_TOKEN", "CPERSONA_HTTP_AUTH_TOKEN") ?? "",
    timeoutMs: read.number(`${GAOTTT}TIMEOUT`, { fallback: 2, min: 0.05, max: 60 }) * 1000,
    minChars: read.integer(`${GAOTTT}MIN_CHARS`, { fallback: 12, min: 0 }),
    minScore: Number.isFinite(minScore) ? minScore : null,
    excludeTags: (read.raw(`${GAOTTT}EXCLUDE_TAGS`) ?? "smoke-test,test")
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
    exposeBreakdown: read.boolean(`${GAOTTT}EXPOSE_BREAKDOWN`, false),
    historyTurns: turns(read, `${GAOTTT}HISTORY_TURNS`, 2),
    antiRestack: read.boolean("GAOTTT_HOOK_ANTI_RESTACK", true),
    showComposed: read.boolean(`${GAOTTT}SHOW_COMPOSED_QUERY`, false),
    output: output === "text" ? "text" : "codex",
    logFile: read.path("CPERSONA_AMBIENT_LOG") ?? "",
  };
}

/** A number of turns: negative ones and nonsense count as 0, as in the seed. */
function turns(read: SettingReader, name: string, fallback: number): number {
  const value = read.raw(name)?.trim();
  if (value === undefined || value === "") return fallback;
  return /^\d+$/.test(value) ? Math.min(Number(value), 50) : 0;
}
