// `cpersona-native import FILE`: an export, or a database file of CPersona. Vectors that did not come along
// are made right away, where people can see it.

import type { ImportOutcome } from "../../maintenance/transfer/import-report.js";
import { openMemory } from "../../open-memory.js";
import type { MemoryService } from "../../service/memory-service.js";
import { startBar } from "../bar.js";

export interface ImportOptions {
  readonly agent?: string;
  readonly dryRun?: boolean;
  readonly anyVersion?: boolean;
}

export async function importCommand(file: string, options: ImportOptions): Promise<void> {
  const service = await openMemory();
  const bar = startBar("importing", "records");
  try {
    const outcome = await service.maintenance.importMemories({
      inputPath: file,
      targetAgent: options.agent ?? "",
      dryRun: options.dryRun ?? false,
      anyVersion: options.anyVersion ?? false,
      unconfined: true,
      progress: bar.progress,
    });
    bar.end();
    process.stdout.write(report(file, outcome));
    if (!outcome.dryRun) await embed(service);
  } finally {
    bar.end();
    await service.close();
  }
}

function report(file: string, outcome: ImportOutcome): string {
  const { dryRun, associations, leftOut, vectors, errors } = outcome;
  const would = dryRun ? " would be" : "";
  const lines = [
    `${file}:`,
    `  ${outcome.importedMemories} memories${would} imported, ${outcome.skippedMemories} skipped (held already)`,
    `  ${outcome.importedEpisodes} episodes${would} imported, ${outcome.skippedEpisodes} skipped`,
    `  ${outcome.updatedProfiles} profiles${would} put, ${outcome.skippedProfiles} kept (the stored one is as new)`,
  ];
  if (outcome.relations + associations.relations > 0)
    lines.push(`  ${outcome.relations} relations${would} added`);
  if (vectors.kept + vectors.dropped > 0)
    lines.push(`  ${vectors.kept} vectors used, ${vectors.dropped} left (made by another embedder)`);
  for (const [what, n] of Object.entries(leftOut)) lines.push(`  no place here for ${n} ${what}`);
  for (const error of errors) lines.push(`  ${error}`);
  return `${lines.join("\n")}\n`;
}

async function embed(service: MemoryService): Promise<void> {
  const bar = startBar("embedding", "rows");
  const { embedded, end } = await service.maintenance.fillVectors(bar.progress);
  bar.end();
  if (embedded > 0) process.stdout.write(`  ${embedded} rows embedded\n`);
  if (end === "busy" || end === "stopped")
    process.stdout.write("  rows still wait for vectors; a running server fills them in by itself\n");
}
