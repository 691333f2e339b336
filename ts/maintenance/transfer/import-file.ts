// Which file it is and what kind: JSON Lines, or a database of CPersona.

import { open, stat } from "node:fs/promises";
import { invalidArgument, MemoryError } from "../../errors.js";
import type { Progress } from "../progress.js";
import { type ImportParts, importRecords } from "./import.js";
import type { ImportOutcome } from "./import-report.js";
import { checkedPath, freePath } from "./paths.js";
import { jsonLinesSource, type RecordSource } from "./source.js";

export interface ImportFileRequest {
  readonly inputPath: string;
  readonly targetAgent: string;
  readonly dryRun: boolean;
  readonly anyVersion?: boolean | undefined;
  /** confinement, null for none */
  readonly folder: string | null;
  readonly unconfined?: boolean;
  readonly progress?: Progress | undefined;
  readonly checkAgents?: ((agents: ReadonlySet<string>) => void) | undefined;
}

export interface ImportFileParts extends ImportParts {
  readonly openCPersonaFile: (path: string) => RecordSource;
  readonly maxBytes: number;
}

const SQLITE_MAGIC = "SQLite format 3\0";

export async function importFile(request: ImportFileRequest, parts: ImportFileParts): Promise<ImportOutcome> {
  const path =
    request.unconfined === true
      ? freePath("input_path", request.inputPath)
      : await checkedPath("input_path", request.inputPath, request.folder);
  const found = await stat(path).catch(() => null);
  if (found === null) throw new MemoryError("not_found", "File not found", { field: "input_path" });
  if (!found.isFile()) throw invalidArgument("input_path", "must name a regular file");
  const isDatabase = await startsWith(path, SQLITE_MAGIC);
  if (found.size === 0)
    throw new MemoryError("damaged_file", "import aborted, nothing was imported: the file is empty");
  if (!isDatabase && found.size > parts.maxBytes) {
    throw invalidArgument(
      "input_path",
      `must have at most ${parts.maxBytes} bytes (CPERSONA_MAX_IMPORT_BYTES), it has ${found.size}`,
    );
  }
  const source = isDatabase ? parts.openCPersonaFile(path) : jsonLinesSource(path);
  try {
    return await importRecords({ ...request, source }, parts);
  } finally {
    source.close();
  }
}

async function startsWith(path: string, magic: string): Promise<boolean> {
  const file = await open(path, "r").catch(() => null);
  if (file === null) throw new MemoryError("storage_unavailable", "the file cannot be read");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(magic.length), 0, magic.length, 0);
    return buffer.subarray(0, bytesRead).toString("latin1") === magic;
  } finally {
    await file.close();
  }
}
