// `cpersona-native export FILE`: everything, or one agent's part, as JSON Lines.

import { openMemory } from "../../open-memory.js";
import { startBar } from "../bar.js";

export interface ExportOptions {
  readonly agent?: string;
  readonly embeddings?: boolean;
}

export async function exportCommand(file: string, options: ExportOptions): Promise<void> {
  const service = await openMemory();
  const bar = startBar("exporting", "records");
  try {
    const { memories, episodes, profiles } = await service.maintenance.exportMemories({
      agentId: options.agent ?? "",
      outputPath: file,
      embeddings: options.embeddings ?? false,
      unconfined: true,
      progress: bar.progress,
    });
    bar.end();
    process.stdout.write(`${file}: ${memories} memories, ${episodes} episodes, ${profiles} profiles\n`);
  } finally {
    bar.end();
    await service.close();
  }
}
