// Temporary folders that are gone when their test is over.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new empty folder; call inside a test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "cpersona-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
