// `cpersona-native` and `cpersona-native serve`: MCP over stdio. Answers `initialize` first; the database is
// opened right behind it.

import { readConfig } from "../../config.js";
import { describeError, MemoryError } from "../../errors.js";
import { log } from "../../log.js";
import { within } from "../../maintenance/progress.js";
import { createMcpServer } from "../../mcp/server.js";
import { serveStdio } from "../../mcp/stdio.js";
import { packageVersion } from "../../package-root.js";
import { LOCAL_CLIENT } from "../../service/access.js";
import type { MemoryService } from "../../service/memory-service.js";
import { loadAccess } from "../load-access.js";
import { operatorSummary } from "../operator-summary.js";

/** Pauses before the checks of the start, so that the first calls of a session do not wait for them. */
const MAINTENANCE_DELAY_MS = 500;
/** What is not closed by then is left: every acknowledged write is committed already. */
const CLOSE_DEADLINE_MS = 250;

export async function serve(opened: () => void = () => {}): Promise<void> {
  const config = readConfig();
  let opening: Promise<MemoryService> | undefined;
  const service = (): Promise<MemoryService> => {
    opening ??= open();
    return opening;
  };
  const open = async (): Promise<MemoryService> => {
    try {
      const { openService } = await import("../../open-memory.js");
      const memory = await openService(config, { now: () => Date.now() });
      opened();
      return memory;
    } catch (error) {
      // The agent gets the same line with every call; a client that shows only stderr gets it here.
      if (error instanceof MemoryError) log("error", error.message);
      else log("error", `cannot open the memory: ${describeError(error)}`);
      process.exitCode = 1;
      throw error;
    }
  };
  const access = loadAccess(config);
  const mcp = createMcpServer({
    version: packageVersion(),
    service,
    tools: async () => (await import("../../mcp/tools/index.js")).toolsOf(config.tools),
    caller: access?.callerOf(LOCAL_CLIENT),
    summary: await operatorSummary(config),
  });
  mcp.server.oninitialized = () => {
    setImmediate(() => {
      import("../../mcp/tools/index.js").catch(() => {});
      service().catch(() => {});
    });
    setTimeout(
      () =>
        service()
          .then((open) => open.maintain())
          .catch(() => {}),
      MAINTENANCE_DELAY_MS,
    ).unref();
  };
  await serveStdio(mcp);
  const closed = opening?.then((open) => open.close()).catch(() => {});
  if (closed !== undefined) await within(CLOSE_DEADLINE_MS, closed, undefined);
  process.exit();
}
