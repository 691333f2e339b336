// The command line for people: commands, options, examples.

import { Command } from "commander";
import { packageVersion } from "../package-root.js";
import { addBench } from "./bench-arguments.js";
import { addModel } from "./model-arguments.js";
import { addHook, addRecall } from "./recall-arguments.js";
import { addTransfer } from "./transfer-arguments.js";

const EXAMPLES = `
Examples:
  cpersona-native                      serve MCP over stdio (what an MCP client starts)
  claude mcp add memory -- npx -y cpersona-native
  cpersona-native doctor               what runs here, what is wrong, what to do
  cpersona-native recall --explain "which port is staging on"
  cpersona-native import ~/cpersona.db --dry-run
  cpersona-native model pull multilingual-e5-small
  CPERSONA_DB_PATH=./team.db cpersona-native serve

Settings are environment variables; the README lists them.`;

export async function runCommand(args: readonly string[]): Promise<void> {
  const program = new Command("cpersona-native")
    .description("Persistent memory for AI agents over MCP: one SQLite file, recall by words and meaning.")
    .version(packageVersion())
    .addHelpText("after", EXAMPLES);
  program
    .command("serve", { isDefault: true })
    .description("serve MCP over stdio until stdin ends, or over HTTP")
    .option("--http", "MCP at /mcp and a REST route a tool, on CPERSONA_HTTP_HOST and CPERSONA_HTTP_PORT")
    .option("--host <address>", "address for --http")
    .option("--port <number>", "port for --http")
    .action(async (options: { http?: boolean; host?: string; port?: string }) => {
      if (options.http === true) {
        const { serveHttp } = await import("./commands/serve-http.js");
        return serveHttp(options);
      }
      const { serve } = await import("./commands/serve.js");
      await serve();
    });
  addRecall(program);
  addTransfer(program);
  addModel(program);
  addHook(program);
  program
    .command("doctor")
    .description("tell what runs here, what is wrong, and what to do about it")
    .option("--fix", "repair what can be repaired; locked rows are never touched")
    .option("--json", "print JSON")
    .action(async (options: object) => {
      const { doctor } = await import("./commands/doctor.js");
      await doctor(options);
    });
  addBench(program);
  const [first = ""] = args;
  const names = new Set([...program.commands.map((command) => command.name()), "help"]);
  if (!first.startsWith("-") && !names.has(first)) program.error(`unknown command '${first}', see --help`);
  await program.parseAsync(args, { from: "user" });
}
