// `cpersona-native recall QUERY`: search from a terminal; with --ambient the block that a hook would print.

import { oneLine } from "../../ambient/escape.js";
import { readConfig } from "../../config.js";
import { openService } from "../../open-memory.js";
import { ambientAnswer } from "../../response/ambient-answer.js";
import { recallAnswer } from "../../response/answers.js";
import { passageRequest } from "../../response/full-content.js";
import type { MemoryService } from "../../service/memory-service.js";
import { explain } from "../explain.js";

export interface RecallOptions {
  readonly ambient?: boolean;
  readonly json?: boolean;
  readonly explain?: boolean;
  readonly limit: string;
  readonly deep?: boolean;
  readonly agent?: string;
  readonly project?: string;
  readonly channel?: string;
  readonly history?: readonly string[];
  readonly directK?: string;
  readonly minScore?: string;
  readonly minChars?: string;
  readonly excludeTags?: string;
  readonly breakdown?: boolean;
  readonly surfaced?: readonly string[];
  readonly session?: string;
}

export async function recallCommand(words: readonly string[], options: RecallOptions): Promise<void> {
  const service = openService(readConfig(), { now: () => Date.now() });
  try {
    const query = words.join(" ");
    const text =
      options.ambient === true
        ? await ambient(query, options, service)
        : await plain(query, options, service);
    process.stdout.write(`${text}\n`);
  } finally {
    await service.close();
  }
}

async function ambient(query: string, options: RecallOptions, service: MemoryService): Promise<string> {
  const answer = await service.ambient.recall({
    ...scopeOf(options),
    query,
    history: options.history,
    directK: number(options.directK),
    minScore: number(options.minScore),
    minChars: number(options.minChars),
    excludeTags: options.excludeTags?.split(",").map((tag) => tag.trim()),
    exposeBreakdown: options.breakdown,
    recentlySurfaced: surfaced(options.surfaced ?? []),
    sessionKey: options.session,
  });
  if (options.json !== true) return answer.text;
  return JSON.stringify(ambientAnswer(answer, service.config.ambient.excerptChars), null, 2);
}

async function plain(query: string, options: RecallOptions, service: MemoryService): Promise<string> {
  const answer = await service.recall({
    ...scopeOf(options),
    query,
    limit: number(options.limit),
    deep: options.deep,
    trace: options.explain,
    passages: passageRequest(service.config.response),
  });
  const shaped = recallAnswer(answer, service.config.response);
  if (options.json === true) return JSON.stringify(shaped, null, 2);
  if (options.explain === true && answer.trace !== null) return explain(answer.trace, answer.hits);
  const rows = shaped["messages"] as { content: string; ref?: string; timestamp?: string }[];
  const note = shaped["note"];
  if (rows.length === 0) return typeof note === "string" ? note : "nothing found";
  // People read from the top: the best row first, unlike on the wire.
  return rows
    .toReversed()
    .map(({ content, ref, timestamp }, i) => {
      const details = [ref, timestamp?.slice(0, 10)].filter((part) => part !== undefined && part !== "");
      return `${String(i + 1).padStart(2)}. ${oneLine(content)}\n    ${details.join("  ")}`;
    })
    .join("\n");
}

function scopeOf({ agent, project, channel }: RecallOptions) {
  return { agentId: agent, projectId: project, channel };
}

function number(text: string | undefined): number | undefined {
  const value = Number(text);
  return text === undefined || !Number.isFinite(value) ? undefined : value;
}

/** `mem:12` or `mem:12=3`. */
function surfaced(entries: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    entries.map((entry) => {
      const [ref = "", times = "1"] = entry.split("=");
      return [ref, Number(times) || 0];
    }),
  );
}
