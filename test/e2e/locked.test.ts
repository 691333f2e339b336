// A stdio server beside another process that does not let go of the database.

import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadDriver } from "../../ts/store/driver.js";
import { startServer } from "../support/client.js";
import { DRIVER } from "../support/settings.js";
import { sql } from "../support/store.js";
import { tempFolder } from "../support/temp.js";

const LOCKED_MS = 7000;

describe("a server whose database another process holds", () => {
  it.each([
    ["long enough to keep what comes meanwhile", "30000", "stored"],
    ["for longer than it may wait", "1000", "rejected"],
  ])("lives and answers: %s", async (_, busyTimeoutMs, result) => {
    const databasePath = join(tempFolder(), "memory.db");
    const env = {
      CPERSONA_EMBEDDING_MODE: "static",
      CPERSONA_AUTO_CALIBRATE: "true",
      CPERSONA_BUSY_TIMEOUT_MS: busyTimeoutMs,
    };
    const first = await startServer({ databasePath, env });
    for (let i = 0; i < 40; i++)
      await first.call("store", { content: `note ${i} about parsers and bicycles` });
    await first.close();
    // What the next start has to do: vectors to make, words to index anew, a calibration.
    sql(
      databasePath,
      "DELETE FROM embeddings WHERE record_key < 20",
      "DELETE FROM memory_terms WHERE rowid = 3",
    );
    // Opened before the lock: the server's own start writes nothing.
    const server = await startServer({ databasePath, env });
    await server.call("list_memories", {});
    const other = loadDriver(DRIVER).connect(databasePath, { readOnly: false });
    onTestFinished(() => other.close());
    other.exec("PRAGMA busy_timeout = 5000");
    other.exec("BEGIN IMMEDIATE");
    const released = new Promise<void>((resolve) =>
      setTimeout(() => {
        other.exec("ROLLBACK");
        resolve();
      }, LOCKED_MS),
    );
    const storing = server.call("store", { content: "asked while it was locked" });
    const reading = await server.call("recall", { query: "parsers and bicycles" });
    expect(reading["messages"].length).toBeGreaterThan(0);
    expect(await storing).toMatchObject({ result });
    await released;
    expect(await server.call("store", { content: "asked afterwards" })).toMatchObject({ result: "stored" });
    const kept = sql(databasePath, "SELECT content FROM memories WHERE content LIKE 'asked%' ORDER BY id");
    expect(kept.map((row) => row["content"])).toEqual(
      result === "stored" ? ["asked while it was locked", "asked afterwards"] : ["asked afterwards"],
    );
    expect(server.stderr()).not.toContain("nobody caught");
  });
});
