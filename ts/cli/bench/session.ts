// A memory server as its own process, spoken to through the protocol's own client, as every user does.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Session {
  /** from starting the process to its answer to `initialize` */
  readonly startMs: number;
  readonly pid: number;
  /** the text of the answer; throws when the tool failed */
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<string>;
  close(): Promise<void>;
}

export async function openSession({ command, args, env }: ServerCommand): Promise<Session> {
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: Object.fromEntries(set),
    stderr: "ignore",
  });
  const client = new Client({ name: "cpersona-native-bench", version: "1" });
  const started = performance.now();
  await client.connect(transport);
  const startMs = performance.now() - started;
  return {
    startMs,
    pid: transport.pid ?? 0,
    call: async (name, input) => {
      const answer = (await client.callTool({ name, arguments: { ...input } })) as CallToolResult;
      const [first] = answer.content;
      const text = first?.type === "text" ? first.text : "";
      if (answer.isError === true) throw new Error(`${name} failed: ${text.slice(0, 300)}`);
      return text;
    },
    close: () => client.close(),
  };
}

/** This very command as a server. */
export function ownCommand(
  databasePath: string,
  more: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): ServerCommand {
  return {
    command: process.execPath,
    args: [process.argv[1] ?? "", ...args],
    env: { ...process.env, CPERSONA_LOG_LEVEL: "error", ...more, CPERSONA_DB_PATH: databasePath },
  };
}
