// The HTTP server's routes: MCP at /mcp, one route a tool, /health. Names, token and size are checked before
// anything else is looked at.

import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { isBlank, JsonError, MAX_MESSAGE_DEPTH, parseJsonBytes } from "../domain/json.js";
import { describeError, type MemoryErrorCode, retryAfterSeconds } from "../errors.js";
import { log } from "../log.js";
import { callTool } from "../mcp/call-tool.js";
import type { Tool } from "../mcp/define-tool.js";
import { TOOLS } from "../mcp/tools/index.js";
import type { AccessList, Caller } from "../service/access.js";
import type { MemoryService } from "../service/memory-service.js";
import type { HttpConfig } from "../settings/http.js";
import { bearerToken, isAuthorised } from "./auth.js";
import { handleMcp } from "./mcp-transport.js";
import { isAllowedHost, isAllowedOrigin } from "./names.js";

export interface AppOptions {
  readonly config: HttpConfig;
  readonly version: string;
  readonly service: () => Promise<MemoryService>;
  /** who may do what; null: the one token may do everything */
  readonly access?: AccessList | null | undefined;
  /** tools that MCP lists and REST routes exist for; default all */
  readonly tools?: readonly Tool[] | undefined;
  /** the operator's words to every agent */
  readonly summary?: string | undefined;
}

type Call = Context<{ Bindings: HttpBindings }>;

const STATUS: Partial<Record<MemoryErrorCode, 400 | 403 | 404 | 409 | 500 | 503 | 507>> = {
  invalid_argument: 400,
  permission_denied: 403,
  not_found: 404,
  locked: 409,
  storage_unavailable: 503,
  storage_busy: 503,
  storage_io: 503,
  storage_full: 507,
  storage_read_only: 403,
  storage_damaged: 500,
  schema_mismatch: 503,
  driver_missing: 503,
};

export function createApp(options: AppOptions): Hono<{ Bindings: HttpBindings }> {
  const { config, version, service, access = null, tools = TOOLS, summary } = options;
  const app = new Hono<{ Bindings: HttpBindings }>();

  app.use("*", async (c, next) => {
    if (!isAllowedHost(c.req.header("host"), config))
      return c.json(
        { ok: false, error: "this Host is not served; CPERSONA_HTTP_ALLOWED_HOSTS names further ones" },
        403,
      );
    if (!isAllowedOrigin(c.req.header("origin"), config))
      return c.json({ ok: false, error: "this Origin is not served" }, 403);
    await next();
    c.header("X-Content-Type-Options", "nosniff");
    c.header("Cache-Control", "no-store");
    return undefined;
  });

  app.get("/health", (c) => c.json({ ok: true, name: "cpersona-native", version }));

  app.use("*", async (c, next) => {
    if (access === null ? isAuthorised(authorizations(c), config.token) : callerOf(c) !== undefined)
      return next();
    c.header("WWW-Authenticate", 'Bearer realm="cpersona-native"');
    return c.json({ ok: false, error: "unauthorized" }, 401);
  });

  app.use(
    "*",
    bodyLimit({
      maxSize: config.maxBodyBytes,
      onError: (c) =>
        c.json({ ok: false, error: `the request must have at most ${config.maxBodyBytes} bytes` }, 413),
    }),
  );

  app.all("/mcp", async (c) => {
    if (c.req.method !== "POST") {
      c.header("Allow", "POST");
      return c.json({ ok: false, error: "MCP is spoken with POST here: the server keeps no sessions" }, 405);
    }
    const caller = callerOf(c);
    return handleMcp(c.req.raw, {
      version,
      service,
      caller,
      tools: async () => tools,
      summary,
      maxBodyBytes: config.maxBodyBytes,
    });
  });

  for (const tool of tools) {
    app.post(`/${tool.name}`, async (c) => {
      const body = readBody(new Uint8Array(await c.req.arrayBuffer()));
      if (typeof body === "string") return c.json({ ok: false, error: body }, 400);
      const { answer, failure } = await callTool(tool, { ...tool.restDefaults, ...body }, service, {
        caller: callerOf(c),
      });
      if (typeof answer === "string") return c.text(answer);
      const seconds = failure === null ? null : retryAfterSeconds(failure);
      if (seconds !== null) c.header("Retry-After", String(seconds));
      return c.json(answer, failure === null ? 200 : (STATUS[failure] ?? 500));
    });
  }

  app.notFound((c) => {
    const isTool = tools.some(({ name }) => c.req.path === `/${name}`);
    if (!isTool) return c.json({ ok: false, error: "no such route" }, 404);
    c.header("Allow", "POST");
    return c.json({ ok: false, error: "this route takes POST" }, 405);
  });

  app.onError((error, c) => {
    log("error", `http: ${describeError(error)}`);
    return c.json({ ok: false, error: "internal error; the server's log has the details" }, 500);
  });

  return app;

  /** With an access list the token says who is calling; undefined for a stranger. */
  function callerOf(c: Call): Caller | undefined {
    const token = access === null ? null : bearerToken(authorizations(c));
    const clientId = token === null ? null : (access?.principalOf(token) ?? null);
    return clientId === null ? undefined : access?.callerOf(clientId);
  }
}

/** All of them: Node keeps the first of several, and the others must not go unseen. */
function authorizations(c: Call): string[] {
  const { rawHeaders } = c.env.incoming;
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === "authorization");
}

/** The arguments, or why there are none. An empty body counts as no arguments. */
function readBody(bytes: Uint8Array): Record<string, unknown> | string {
  if (isBlank(bytes)) return {};
  try {
    const value = parseJsonBytes(bytes, MAX_MESSAGE_DEPTH);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
    return "the body must be one JSON object";
  } catch (error) {
    if (error instanceof JsonError) return `the body must be one JSON object: it ${error.fault}`;
    throw error;
  }
}
