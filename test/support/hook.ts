// The hook as its own process, fed like a host feeds it.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { MAIN, serverEnvironment } from "./client.js";
import type { Settings } from "./settings.js";
import { tempFolder } from "./temp.js";

export interface HookRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** `input` null leaves stdin open and silent. */
export function runHook(
  databasePath: string,
  input: string | Buffer | object | null,
  env: Settings = {},
  args: readonly string[] = [],
  main = MAIN,
): Promise<HookRun> {
  const started = performance.now();
  const child = spawn(process.execPath, [main, "hook", "ambient", ...args], {
    env: serverEnvironment(databasePath, { CPERSONA_EMBEDDING_MODE: "static", ...env }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => {});
  if (input !== null)
    child.stdin.end(typeof input === "string" || Buffer.isBuffer(input) ? input : JSON.stringify(input));
  return new Promise((resolve) =>
    child.once("close", (code) => resolve({ code, stdout, stderr, ms: performance.now() - started })),
  );
}

/** A transcript of these records, a line each. */
export function transcript(...records: readonly (object | string)[]): string {
  const path = join(tempFolder(), "session.jsonl");
  const lines = records.map((record) => (typeof record === "string" ? record : JSON.stringify(record)));
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}
