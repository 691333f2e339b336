// Options of `import` and `export`.

import type { Command } from "commander";

export function addTransfer(program: Command): void {
  program
    .command("export")
    .description("write memories, episodes and profiles to a JSON Lines file")
    .argument("<file>", "where to; an older export there is replaced")
    .option("--agent <name>", "only this agent's")
    .option("--embeddings", "vectors too")
    .action(async (file: string, options: { agent?: string; embeddings?: boolean }) => {
      const { exportCommand } = await import("./commands/export.js");
      await exportCommand(file, options);
    });
  program
    .command("import")
    .description("take in an export, or a database file of CPersona (2.5 and 2.6)")
    .argument("<file>", "a .jsonl export, or a cpersona.db")
    .option("--agent <name>", "give everything to this agent")
    .option("--any-version", "also when the file names a version that is not known here")
    .option("--dry-run", "say what would happen, and change nothing")
    .action(async (file: string, options: { agent?: string; dryRun?: boolean; anyVersion?: boolean }) => {
      const { importCommand } = await import("./commands/import.js");
      await importCommand(file, options);
    });
}
