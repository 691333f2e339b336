// Temporary folders with files, and collecting what intake yields.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";
import type { Draft, Intake, Note } from "../../../ts/intake/draft.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new folder named `in` with these files; removed after the test. */
export function folderOf(files: Record<string, string | Uint8Array>): string {
  const base = mkdtempSync(join(realpathSync(tmpdir()), "intake-"));
  folders.push(base);
  const root = join(base, "in");
  mkdirSync(root);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  return root;
}

/** Everything a reader yields, sorted into drafts and notes. */
export async function collect(items: AsyncIterable<Intake>): Promise<{ drafts: Draft[]; notes: Note[] }> {
  const drafts: Draft[] = [];
  const notes: Note[] = [];
  for await (const item of items) {
    if ("draft" in item) drafts.push(item.draft);
    else notes.push(item.note);
  }
  return { drafts, notes };
}

/** Numbered lines as `readLines` would give them. */
export function linesOf(...records: unknown[]): { number: number; text: string }[] {
  return records.map((record, index) => ({
    number: index + 1,
    text: typeof record === "string" ? record : JSON.stringify(record),
  }));
}
