// `cpersona-native serve --http`: MCP and REST over HTTP until a signal arrives.

import { readConfig } from "../../config.js";
import { listen } from "../../http/listen.js";
import { within } from "../../maintenance/progress.js";
import { toolsOf } from "../../mcp/tools/index.js";
import { openService } from "../../open-memory.js";
import { packageVersion } from "../../package-root.js";
import { loadAccess } from "../load-access.js";
import { operatorSummary } from "../operator-summary.js";

/** Open writes are ended by then or refused; what was acknowledged is committed already. */
const CLOSE_DEADLINE_MS = 3000;

export interface HttpOptions {
  readonly host?: string | undefined;
  readonly port?: string | undefined;
}

export async function serveHttp(options: HttpOptions): Promise<void> {
  const config = readConfig({
    ...process.env,
    ...(options.host === undefined ? {} : { CPERSONA_HTTP_HOST: options.host }),
    ...(options.port === undefined ? {} : { CPERSONA_HTTP_PORT: options.port }),
  });
  const access = loadAccess(config);
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  const summary = await operatorSummary(config);
  const service = openService(config, { now: () => Date.now() }, { isShared: true });
  const server = await listen({
    config: config.http,
    version: packageVersion(),
    service: async () => service,
    tools: toolsOf(config.tools),
    access,
    summary,
  }).catch(async (error: unknown) => {
    await service.close();
    throw error;
  });
  process.stderr.write(`cpersona-native: listening on http://${at(config.http.host)}:${server.port}\n`);
  if (access !== null && config.http.token !== "")
    process.stderr.write(
      "cpersona-native warn: CPERSONA_ACL_FILE is set, so CPERSONA_AUTH_TOKEN is ignored\n",
    );
  if (config.http.token === "" && access === null)
    process.stderr.write(
      "cpersona-native warn: no token: everybody who reaches this port reads and writes\n",
    );
  setTimeout(() => service.maintain().catch(() => {}), 500).unref();
  await stopped;
  await server.close();
  await within(CLOSE_DEADLINE_MS, service.close(), undefined);
  process.exit();
}

function at(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
