// `cpersona-native hook ambient`: what Claude Code runs on every prompt. Prints the block or nothing, exits 0
// whatever happens, and never later than its time limit.

import { closeSync, constants, fstatSync, ftruncateSync, writeSync } from "node:fs";
import { excerptLine, oneLine } from "../../ambient/escape.js";
import { type Config, readConfig } from "../../config.js";
import { CLOSE_TAG, holdsRecalledBlock, OPEN_TAG } from "../../domain/recalled-block.js";
import { withoutSecrets } from "../../domain/secrets.js";
import { describeError } from "../../errors.js";
import { openRegular } from "../../files.js";
import { projectOfFolder } from "../../project-folder.js";
import type { AmbientArguments } from "../../service/ambient-service.js";
import type { AmbientHookConfig } from "../../settings/ambient.js";
import { askDatabase, askServer } from "./ask.js";
import { type HookPayload, parsePayload, readStdin } from "./payload.js";
import { readTranscriptTail } from "./transcript.js";

/** Set by whoever runs an agent from inside a hook: it must not call the hook again. */
const GUARD = "CPERSONA_HOOK_ACTIVE";

/** `answered` is called when the database was asked, whatever it knew. */
export async function runAmbientHook(
  args: readonly string[],
  answered: () => void = () => {},
): Promise<never> {
  const started = performance.now();
  let config: Config | null = null;
  const details: Record<string, unknown> = {};
  process.on("uncaughtException", () => leave(config, { ...details, outcome: "failed" }, started));
  process.on("unhandledRejection", () => leave(config, { ...details, outcome: "failed" }, started));
  try {
    config = readConfig(hookEnvironment());
    const deadline = config.ambient.hook.timeoutMs;
    const timer = setTimeout(() => leave(config, { ...details, outcome: "timeout" }, started), deadline);
    await answerPrompt(config, args.includes("--codex"), details, answered);
    clearTimeout(timer);
  } catch (error) {
    details["outcome"] = "failed";
    details["error"] = oneLine(describeError(error)).slice(0, 300);
  }
  return leave(config, details, started);
}

/** Waiting for another process's write must end long before the hook does. */
function hookEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, CPERSONA_BUSY_TIMEOUT_MS: "250", CPERSONA_LOG_LEVEL: "error" };
}

async function answerPrompt(
  config: Config,
  isCodex: boolean,
  details: Record<string, unknown>,
  answered: () => void,
): Promise<void> {
  const { hook } = config.ambient;
  const say = (outcome: string): void => {
    details["outcome"] = outcome;
  };
  if (!hook.enabled) return say("switched off");
  if ((process.env[GUARD] ?? "") !== "") return say("inside a hook");
  const input = await readStdin();
  const payload = input === null ? null : parsePayload(input);
  if (payload === null) return say("no prompt");
  details["session"] = payload.sessionId.slice(0, 64);
  details["prompt_chars"] = payload.prompt.length;
  if (hook.antiRestack && holdsRecalledBlock(payload.prompt)) return say("block in prompt");
  const request = toRequest(config, payload);
  const answer = await (hook.url === "" ? askDatabase(config, request) : askServer(config, request));
  if (hook.url === "") answered();
  Object.assign(details, answer.details);
  const text = answer.text.trim();
  if (!text.startsWith(OPEN_TAG) || !text.endsWith(CLOSE_TAG)) {
    details["outcome"] ??= "nothing";
    return;
  }
  // A server of another version may not know all that must not be repeated.
  const safe = text.split("\n").map(withoutSecrets).join("\n");
  const shown = hook.showComposed ? withComposed(safe, request) : safe;
  writeAll(isCodex || hook.output === "codex" ? envelope(shown) : `${shown}\n`);
  details["chars"] = shown.length;
  await answer.after();
}

/** Reading it must leave time for an answer. */
const TRANSCRIPT_SHARE = 0.5;

function toRequest(config: Config, payload: HookPayload): AmbientArguments {
  const { ambient } = config;
  const { hook } = ambient;
  const wanted = {
    // One more: the transcript may hold the current prompt already.
    prompts: payload.history === null && hook.historyTurns > 0 ? hook.historyTurns + 1 : 0,
    blocks: payload.recentlySurfaced === null ? ambient.noveltyTurns : 0,
  };
  const tail = readTranscriptTail(payload.transcriptPath, wanted, hook.timeoutMs * TRANSCRIPT_SHARE);
  const earlier = [...(payload.history ?? tail.prompts)];
  while (earlier.length > 0 && earlier[earlier.length - 1]?.trim() === payload.prompt) earlier.pop();
  const isAuto = process.env["CPERSONA_PROJECT_ID"] === "auto";
  const projectId = isAuto ? projectOfFolder(payload.cwd) : null;
  return {
    query: payload.prompt,
    history: hook.historyTurns === 0 ? [] : earlier.slice(-hook.historyTurns),
    directK: ambient.directK,
    minChars: hook.minChars,
    minScore: hook.minScore ?? undefined,
    excludeTags: hook.excludeTags,
    exposeBreakdown: hook.exposeBreakdown,
    recentlySurfaced: payload.recentlySurfaced ?? tail.shown,
    sessionKey: payload.sessionId.slice(0, 256),
    ...(projectId === null ? {} : { projectId }),
  };
}

/** Shows what was asked, where that is more than the prompt. */
function withComposed(text: string, { query, history = [] }: AmbientArguments): string {
  if (history.length === 0) return text;
  const composed = withoutSecrets([...history, query].join("\n"));
  const escaped = composed.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  const line = `<!-- ambient: composed query = "${excerptLine(escaped, Number.MAX_SAFE_INTEGER)}" -->`;
  return text.replace(new RegExp(`${CLOSE_TAG}\\s*$`), () => `${line}\n${CLOSE_TAG}`);
}

function envelope(block: string): string {
  return JSON.stringify({
    hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: block },
  });
}

/** Straight to the descriptor: a stream's buffer would be lost by the exit behind it. */
function writeAll(text: string): void {
  const bytes = Buffer.from(text.toWellFormed(), "utf8");
  for (let at = 0, tries = 0; at < bytes.length && tries < 2000; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      tries++;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** Newer lines are worth more than old ones: a log that has grown to this starts anew. */
const MAX_LOG_BYTES = 1024 * 1024;

function appendLine(path: string, line: string): void {
  const file = openRegular(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  if (fstatSync(file).size > MAX_LOG_BYTES) ftruncateSync(file);
  writeSync(file, `${line}\n`);
  closeSync(file);
}

function leave(config: Config | null, details: Record<string, unknown>, started: number): never {
  const hook: AmbientHookConfig | undefined = config?.ambient.hook;
  if (hook !== undefined && hook.logFile !== "") {
    try {
      const ms = Math.round((performance.now() - started) * 10) / 10;
      const warnings = config?.warnings.length === 0 ? {} : { warnings: config?.warnings };
      const line = JSON.stringify({ at: new Date().toISOString(), ms, ...details, ...warnings });
      appendLine(hook.logFile, line);
    } catch {
      // A log that cannot be written must not cost the prompt anything.
    }
  }
  process.exit(0);
}
