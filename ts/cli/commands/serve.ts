// `cpersona-native` and `cpersona-native serve`: MCP over stdio. Answers `initialize` first; the database is
// opened right behind it.

import { readConfig } from "../../config.js";
import { describeError, MemoryError } from "../../errors.js";
import { log } from "../../log.js";
import { createMcpServer } from "../../mcp/server.js";
import { serveStdio } from "../../mcp/stdio.js";
import { packageVersion } from "../../package-root.js";
import type { MemoryService } from "../../service/memory-service.js";

/** Pauses before the checks of the start, so that the first calls of a session do not wait for them. */
const MAINTENANCE_DELAY_MS = 500;

export async function serve(): Promise<void> {
  const config = readConfig();
  let opening: Promise<MemoryService> | undefined;
  const service = (): Promise<MemoryService> => {
    opening ??= open();
    return opening;
  };
  const open = async (): Promise<MemoryService> => {
    try {
      const { openService } = await import("../../open-memory.js");
      return openService(config, { now: () => Date.now() });
    } catch (error) {
      // The agent gets the same line with every call; a client that shows only stderr gets it here.
      if (error instanceof MemoryError) log("error", error.message);
      else log("error", `cannot open the memory: ${describeError(error)}`);
      process.exitCode = 1;
      throw error;
    }
  };
  const mcp = createMcpServer({ version: packageVersion(), service });
  mcp.server.oninitialized = () => {
    setImmediate(() => void service().catch(() => {}));
    setTimeout(
      () =>
        void service()
          .then((open) => open.maintain())
          .catch(() => {}),
      MAINTENANCE_DELAY_MS,
    ).unref();
  };
  await serveStdio(mcp);
  await opening?.then((open) => open.close()).catch(() => {});
  process.exit();
}
