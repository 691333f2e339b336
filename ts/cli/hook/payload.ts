// What a harness sends to its hook on stdin: read with a limit, and taken for what it is.

import { parseJson } from "../../domain/json.js";

export interface HookPayload {
  readonly prompt: string;
  readonly transcriptPath: string;
  readonly sessionId: string;
  readonly cwd: string;
  /** earlier prompts, where the caller knows them: then no transcript is read for them */
  readonly history: readonly string[] | null;
  readonly recentlySurfaced: Readonly<Record<string, number>> | null;
}

/** Longer input is no prompt. */
const MAX_BYTES = 8 * 1024 * 1024;

/** All of stdin, or null when nothing is attached to it, it is too long, or it cannot be read. */
export async function readStdin(): Promise<string | null> {
  if (process.stdin.isTTY) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of process.stdin) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_BYTES) return null;
      chunks.push(chunk as Buffer);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Null when there is no prompt in it. */
export function parsePayload(text: string): HookPayload | null {
  let value: unknown;
  try {
    value = parseJson(text.replace(/^\ufeff/, ""));
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const payload = value as Record<string, unknown>;
  const prompt = stringOf(payload["prompt"]).trim();
  if (prompt === "") return null;
  const history = payload["history"];
  const surfaced = payload["recently_surfaced"];
  return {
    prompt,
    transcriptPath: stringOf(payload["transcript_path"]),
    sessionId: stringOf(payload["session_id"]),
    cwd: stringOf(payload["cwd"]),
    history: Array.isArray(history)
      ? history.filter((text): text is string => typeof text === "string")
      : null,
    recentlySurfaced:
      typeof surfaced === "object" && surfaced !== null && !Array.isArray(surfaced)
        ? Object.fromEntries(
            Object.entries(surfaced).filter(
              (entry): entry is [string, number] => typeof entry[1] === "number",
            ),
          )
        : null,
  };
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
