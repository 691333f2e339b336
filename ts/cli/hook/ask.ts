// Where the hook gets its answer: from the database itself, or from a running server.

import { statSync } from "node:fs";
import type { Config } from "../../config.js";
import { MemoryError } from "../../errors.js";
import { openAmbient } from "../../open-ambient.js";
import { LOCAL_CLIENT } from "../../service/access.js";
import type { AmbientArguments, AmbientService } from "../../service/ambient-service.js";
import { loadAccess } from "../load-access.js";

export interface HookAnswer {
  readonly text: string;
  /** for the log */
  readonly details: Readonly<Record<string, unknown>>;
  /** work for after the answer is out */
  readonly after: () => Promise<void>;
}

const NOTHING = async (): Promise<void> => {};
/** A showing that is not counted costs a repeat, a hook that waits costs every prompt. */
const COUNT_WAIT_MS = 100;

export async function askDatabase(config: Config, request: AmbientArguments): Promise<HookAnswer> {
  const { path } = config.database;
  // A hook must not leave a database behind in a place where nobody stored anything, nor wait for a pipe.
  if (path === ":memory:" || statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    return { text: "", details: { outcome: "no database" }, after: NOTHING };
  const access = loadAccess(config);
  // What the stdio server may not read, the hook beside it may not show.
  if (access !== null && !access.callerOf(LOCAL_CLIENT).mayRead(config.agentId))
    return { text: "", details: { outcome: "not allowed" }, after: NOTHING };
  const ambient = openAnyway(hurried(config));
  const answer = await ambient.recall(request);
  const { composed, ...trace } = answer.trace;
  return {
    text: answer.text,
    details: { ...trace, composed_chars: composed.length },
    // Not closed: the process ends, and waiting for background work would hold up the prompt.
    after: () => ambient.uses.flush(COUNT_WAIT_MS).catch(() => {}),
  };
}

/** A slow embedder or vector service, which are asked side by side, must leave time for an answer by words. */
const MEANING_SHARE = 0.6;
function hurried(config: Config): Config {
  const { embedding, remote, ambient } = config;
  const mostMs = ambient.hook.timeoutMs * MEANING_SHARE;
  return {
    ...config,
    embedding: { ...embedding, queryTimeoutMs: Math.min(embedding.queryTimeoutMs, mostMs) },
    remote: { ...remote, searchTimeoutMs: Math.min(remote.searchTimeoutMs, mostMs) },
  };
}

/** For reading alone where nothing can be written, such as a disk that is mounted so. */
function openAnyway(config: Config): AmbientService {
  const clock = { now: () => Date.now() };
  try {
    return openAmbient(config, clock);
  } catch (error) {
    if (!(error instanceof MemoryError) || error.code !== "storage_unavailable") throw error;
    return openAmbient(config, clock, { readOnly: true });
  }
}

export async function askServer(config: Config, request: AmbientArguments): Promise<HookAnswer> {
  const { url, token, timeoutMs } = config.ambient.hook;
  const base = url.replace(/\/(?:mcp|ambient_recall)?\/*$/, "");
  const response = await fetch(`${base}/ambient_recall`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      query: request.query,
      history: request.history,
      min_chars: request.minChars,
      min_score: request.minScore,
      direct_k: request.directK,
      exclude_tags: request.excludeTags,
      expose_breakdown: request.exposeBreakdown,
      recently_surfaced: request.recentlySurfaced,
      session_key: request.sessionKey,
      agent_id: request.agentId,
      project_id: request.projectId,
      format: "text",
    }),
    signal: AbortSignal.timeout(timeoutMs),
    redirect: "error",
  });
  const text = response.ok ? await limitedText(response) : "";
  return { text, details: { outcome: `http ${response.status}` }, after: NOTHING };
}

/** More than any block has. */
const MAX_ANSWER_BYTES = 1024 * 1024;

async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error("the server's answer is longer than a block");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
