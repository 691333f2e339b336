// A server process for measurements, asked over MCP stdio as a client asks it.

import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

export const MAIN = fileURLToPath(new URL("../dist/bin/main.js", import.meta.url));

/** Starts `command` with the settings of this environment and `env`; `work` gets a function that calls a tool. */
export async function withServer([command, ...args], env, work) {
  const client = new Client({ name: "bench", version: "1" });
  const own = Object.entries(process.env).filter(([name]) => /^(PATH|HOME|CPERSONA_|EMBEDDING_)/.test(name));
  await client.connect(
    new StdioClientTransport({
      command,
      args,
      env: { ...Object.fromEntries(own), ...env },
      stderr: "inherit",
    }),
  );
  try {
    return await work(async (name, input) => {
      const { content } = await client.callTool({ name, arguments: input });
      return { text: content[0].text, answer: JSON.parse(content[0].text) };
    });
  } finally {
    await client.close();
  }
}
