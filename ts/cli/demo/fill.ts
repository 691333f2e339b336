// Stores what intake reads, and counts what became of it.
import { estimateDrafts, findFiles, readFileDrafts } from "../../intake/detect.js";
import type { Draft, Note } from "../../intake/draft.js";
import type { Screen } from "../style.js";
import { startProgress } from "./progress.js";
import type { Session } from "./session.js";

/** The outcome of storing some files. */
export interface Filled {
  files: number;
  stored: number;
  skipped: number;
  rejected: number;
  embedded: number;
  seconds: number;
  notes: Note[];
}

/** Reads `paths` and stores every draft, one after the other, in the order of the files. */
export async function fill(
  session: Session,
  paths: readonly string[],
  output: { stream: NodeJS.WriteStream; screen: Screen },
  onDraft: (draft: Draft) => void,
): Promise<Filled> {
  const { files, notes } = await findFiles(paths);
  const estimate = await estimateDrafts(files);
  const filled: Filled = {
    files: files.length,
    stored: 0,
    skipped: 0,
    rejected: 0,
    embedded: 0,
    seconds: 0,
    notes,
  };
  const progress = await startProgress(output.stream, output.screen, estimate.drafts);
  const started = performance.now();
  let done = 0;
  try {
    for (const file of files) {
      for await (const item of readFileDrafts(file)) {
        if ("note" in item) {
          notes.push(item.note);
          continue;
        }
        const written = await session.store(item.draft);
        filled[written.result]++;
        if (written.embedded) filled.embedded++;
        if (written.result === "rejected")
          notes.push({ file: file.relative, text: `refused: ${written.reason}` });
        onDraft(item.draft);
        progress.advance(++done);
      }
    }
  } finally {
    progress.end(done);
  }
  filled.seconds = (performance.now() - started) / 1000;
  return filled;
}
