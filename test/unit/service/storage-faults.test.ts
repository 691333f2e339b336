// A database that is locked by another process, or full: who is told what, and what goes on afterwards.

import { describe, expect, it, vi } from "vitest";
import { createApp } from "../../../ts/http/app.js";
import type { SqlConnection } from "../../../ts/store/driver.js";
import { loadDriver } from "../../../ts/store/driver.js";
import { startInProcess } from "../../support/client.js";
import { openTestMemory } from "../../support/memory.js";
import { DRIVER } from "../../support/settings.js";
import { sql } from "../../support/store.js";

/** Another process's write transaction. */
async function whileLocked<T>(path: string, work: (other: SqlConnection) => Promise<T>): Promise<T> {
  const other = loadDriver(DRIVER).connect(path, { readOnly: false });
  other.exec("BEGIN IMMEDIATE");
  try {
    return await work(other);
  } finally {
    other.close();
  }
}

const QUICKLY = { CPERSONA_BUSY_TIMEOUT_MS: "80" };
const BUSY = { code: "storage_busy", retry_after_seconds: 5 };

describe("a locked database", () => {
  it("refuses every write by name, and keeps reading", async () => {
    const { call, service, path } = await startInProcess({ settings: QUICKLY });
    await call("store", { content: "the parser is written in Rust" });
    await call("archive_episode", { summary: "we spoke of parsers", history: [] });
    const before = sql(path, "SELECT * FROM memories");
    const writes: [string, object][] = [
      ["store", { content: "another" }],
      ["update_memory", { memory_id: 1, content: "changed" }],
      ["delete_memory", { memory_id: 1 }],
      ["lock_memory", { memory_id: 1 }],
      ["archive_episode", { summary: "again", history: [] }],
      ["delete_episode", { episode_id: 1 }],
      ["update_profile", { profile: "short answers" }],
      ["relate", { from_ref: "mem:1", to_ref: "ep:1", type: "supports" }],
      ["delete_agent_data", { agent_id: "default" }],
    ];
    await whileLocked(path, async () => {
      for (const [tool, args] of writes)
        expect({ tool, ...(await call(tool, args)) }).toMatchObject({ tool, ok: false, ...BUSY });
      const found = await call("recall", { query: "parser Rust" });
      expect(found["messages"]).toContainEqual(expect.objectContaining({ ref: "mem:1" }));
    });
    expect(sql(path, "SELECT * FROM memories")).toEqual(before);
    await service.store({ content: "another" });
    expect(sql(path, "SELECT count(*) AS n FROM memories")).toEqual([{ n: 2 }]);
  });

  it("makes a write wait, tells a client that asked, and keeps what it acknowledges", async () => {
    const { client, path } = await startInProcess();
    const told: string[] = [];
    await client.callTool({ name: "list_memories", arguments: {} });
    const stored = await whileLocked(path, async (other) => {
      const storing = client.callTool(
        { name: "store", arguments: { content: "kept in the end" } },
        undefined,
        {
          onprogress: ({ message }) => told.push(message ?? ""),
        },
      );
      await new Promise((resolve) => setTimeout(resolve, 1400));
      other.exec("ROLLBACK");
      return storing;
    });
    expect(stored.structuredContent).toMatchObject({ ok: true, result: "stored" });
    expect(told).toContainEqual(expect.stringContaining("another process writes to the database"));
    expect(sql(path, "SELECT content FROM memories")).toEqual([{ content: "kept in the end" }]);
  });

  it("lets background work stand still, which check_health shows until it goes on", async () => {
    const rejected = vi.fn();
    process.on("unhandledRejection", rejected);
    const { call, service, path } = await startInProcess({
      settings: { ...QUICKLY, CPERSONA_EMBEDDING_MODE: "static", CPERSONA_AUTO_CALIBRATE: "true" },
    });
    await call("store", { content: "the parser is written in Rust" });
    await whileLocked(path, async () => {
      await service.maintain();
      const report = await call("check_health", { checks: ["background_work"] });
      const [issue] = report["issues"];
      expect(issue).toMatchObject({ check: "background_work", severity: "warn" });
      expect(issue["works"]).toContainEqual(
        expect.objectContaining({ name: "calibration", reason: expect.stringContaining("another process") }),
      );
    });
    await vi.waitFor(
      async () =>
        expect(await call("check_health", { checks: ["background_work"] })).toMatchObject({ issues: [] }),
      { timeout: 10_000 },
    );
    process.off("unhandledRejection", rejected);
    expect(rejected).not.toHaveBeenCalled();
  });

  it("answers 503 with Retry-After over HTTP", async () => {
    const { service, path } = await openTestMemory({ settings: QUICKLY });
    const app = createApp({
      config: { ...service.config.http, token: "", allowOpen: true },
      version: "0",
      service: async () => service,
    });
    await service.store({ content: "first" });
    await whileLocked(path, async () => {
      const init = {
        method: "POST",
        body: JSON.stringify({ content: "second" }),
        headers: { host: "localhost" },
      };
      const env = { incoming: { rawHeaders: [] } };
      const response = await app.request("http://localhost/store", init, env);
      expect(response.status).toBe(503);
      expect(response.headers.get("Retry-After")).toBe("5");
      expect(await response.json()).toMatchObject({ ok: false, ...BUSY });
    });
  });
});
