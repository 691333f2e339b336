// The server as its own process, spoken to the way every MCP client does.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type Draft, isRecord } from "../../intake/draft.js";

/** One row of a recall answer; the keys are the wire's. */
export interface Row {
  content: string;
  ref?: string;
  timestamp?: string;
  id?: string;
  match_reason?: { signal: string; score?: number; cosine?: number };
}

/** A recall answer with the rows best first. */
export interface Answer {
  rows: Row[];
  ms: number;
  /** What the server says about itself in this answer, such as a missing embedder. */
  advisory: string | undefined;
}

/** The outcome of a write. */
export interface Written {
  result: "stored" | "skipped" | "rejected";
  reason: string | undefined;
  embedded: boolean;
}

const KEPT_STDERR_CHARS = 20_000;

export class Session {
  private constructor(
    private readonly client: Client,
    private readonly output: { stderr: string },
  ) {}

  /** Starts `node <mainFile>` and shakes hands. Rejects with the server's last words when it does not start. */
  static async start(mainFile: string, env: Record<string, string>): Promise<Session> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [mainFile],
      env,
      stderr: "pipe",
    });
    const output = { stderr: "" };
    transport.stderr?.on("data", (chunk: Buffer) => {
      output.stderr = (output.stderr + chunk.toString("utf8")).slice(-KEPT_STDERR_CHARS);
    });
    const client = new Client({ name: "cpersona-native-demo", version: "1" });
    const session = new Session(client, output);
    try {
      await client.connect(transport);
    } catch (error) {
      await transport.close();
      throw session.failure("the server did not start", error);
    }
    return session;
  }

  get server(): { name: string; version: string } {
    const about = this.client.getServerVersion();
    return { name: about?.name ?? "server", version: about?.version ?? "?" };
  }

  /** What the server wrote to stderr so far. */
  get stderr(): string {
    return this.output.stderr;
  }

  async store(draft: Draft): Promise<Written> {
    const { kind, tags, metadata, ...args } = draft;
    const extra: Record<string, unknown> = { ...metadata };
    if (kind !== undefined && kind !== "memory") extra["kind"] = kind;
    if (tags !== undefined) extra["tags"] = tags;
    if (Object.keys(extra).length > 0) Object.assign(args, { metadata: extra });
    const reply = await this.call("store", args);
    const result =
      reply["result"] === "stored" || reply["result"] === "skipped" ? reply["result"] : "rejected";
    const reason = reply["reason"] ?? reply["error"];
    return {
      result,
      reason: typeof reason === "string" ? reason : undefined,
      embedded: reply["embedded"] === true,
    };
  }

  async recall(query: string, limit: number): Promise<Answer> {
    const start = performance.now();
    const reply = await this.call("recall", { query, limit });
    const ms = performance.now() - start;
    if (!Array.isArray(reply["messages"]) || typeof reply["error"] === "string") {
      throw this.failure(`recall failed: ${String(reply["error"] ?? "no messages in the answer")}`);
    }
    const advisory = reply["advisory"];
    const reason = isRecord(advisory) ? advisory["reason"] : undefined;
    return {
      rows: [...(reply["messages"] as Row[])].reverse(),
      ms,
      advisory: typeof reason === "string" ? reason : undefined,
    };
  }

  /** Ends the server by closing its stdin. */
  async close(): Promise<void> {
    await this.client.close();
  }

  private async call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
    let reply: Awaited<ReturnType<Client["callTool"]>>;
    try {
      reply = await this.client.callTool({ name, arguments: args });
    } catch (error) {
      throw this.failure(`the call of ${name} failed`, error);
    }
    if (isRecord(reply.structuredContent)) return reply.structuredContent;
    const first: unknown = Array.isArray(reply.content) ? reply.content[0] : undefined;
    const text = isRecord(first) && typeof first["text"] === "string" ? first["text"] : "";
    try {
      const parsed: unknown = JSON.parse(text);
      if (isRecord(parsed)) return parsed;
    } catch {
      // Plain words: an error of the protocol layer.
    }
    return { error: text || "empty answer" };
  }

  private failure(what: string, cause?: unknown): Error {
    const detail = cause instanceof Error ? `: ${cause.message}` : "";
    const words = this.output.stderr.trim();
    return new Error(`${what}${detail}${words === "" ? "" : `\n\nThe server wrote:\n${words}`}`);
  }
}
