// The command line for people: commands, options, examples.

import { Command } from "commander";
import { packageVersion } from "./version.js";

const EXAMPLES = `
Examples:
  cpersona-native                      serve MCP over stdio (what an MCP client starts)
  claude mcp add memory -- npx -y cpersona-native
  CPERSONA_DB_PATH=./team.db cpersona-native serve

Settings are environment variables; the README lists them.`;

export async function runCommand(args: readonly string[]): Promise<void> {
  const program = new Command("cpersona-native")
    .description("Persistent memory for AI agents over MCP: one SQLite file, recall by words and meaning.")
    .version(packageVersion())
    .addHelpText("after", EXAMPLES);
  program
    .command("serve", { isDefault: true })
    .description("serve MCP over stdio until stdin ends")
    .action(async () => {
      const { serve } = await import("./commands/serve.js");
      await serve();
    });
  await program.parseAsync(args, { from: "user" });
}
