// A server process with bare pipes, for tests about the pipes themselves.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import { onTestFinished } from "vitest";
import { MAIN } from "./client.js";

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RawServer {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly exit: Promise<Exit>;
  stdout(): string;
  stderr(): string;
  /** Writes one frame. */
  send(message: object): void;
  /** Waits for the answer to a request. */
  answer(id: number): Promise<Record<string, unknown>>;
  initialize(): Promise<Record<string, unknown>>;
}

export interface RawOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly args?: readonly string[];
  readonly nodeArgs?: readonly string[];
  /** another copy of the bundled command */
  readonly main?: string;
}

const INITIALIZE = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

export function startRaw({ env, args = [], nodeArgs = [], main = MAIN }: RawOptions): RawServer {
  const child = spawn(process.execPath, [...nodeArgs, main, ...args], {
    env: env as NodeJS.ProcessEnv,
    cwd: dirname(MAIN),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  const waiting = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    for (const wake of waiting) wake();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  child.stdin.on("error", () => {});
  const exit = new Promise<Exit>((resolve) =>
    child.once("close", (code, signal) => {
      resolve({ code, signal });
      for (const wake of waiting) wake();
    }),
  );
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exit;
  });
  const send = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const find = (id: number): Record<string, unknown> | undefined =>
    frames(out).find((frame) => frame["id"] === id);
  const answer = (id: number): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find(id);
        if (found !== undefined) done(() => resolve(found));
        else if (child.exitCode !== null || child.signalCode !== null)
          done(() => reject(new Error(`the server ended before answer ${id}: ${err}`)));
      };
      const done = (settle: () => void): void => {
        waiting.delete(look);
        settle();
      };
      waiting.add(look);
      look();
    });
  return {
    child,
    exit,
    stdout: () => out,
    stderr: () => err,
    send,
    answer,
    initialize: async () => {
      send({ id: 0, method: "initialize", params: INITIALIZE });
      const found = await answer(0);
      send({ method: "notifications/initialized" });
      return found;
    },
  };
}

/** Every whole line of stdout as a JSON object; throws for a line that is none. */
export function frames(stdout: string): Record<string, unknown>[] {
  const lines = stdout.split("\n");
  return lines.slice(0, -1).map((line) => {
    const frame: unknown = JSON.parse(line);
    if (typeof frame !== "object" || frame === null || !("jsonrpc" in frame)) throw new Error(line);
    return frame as Record<string, unknown>;
  });
}
