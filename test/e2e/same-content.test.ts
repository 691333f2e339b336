// Two processes that store the same content at once: one row, and both know its id.

import { describe, expect, it } from "vitest";
import { startServer } from "../support/client.js";
import { sql } from "../support/store.js";

describe("two processes", () => {
  it("that store the same texts at the same time keep one row each, and the loser is told which", async () => {
    const first = await startServer({ env: { CPERSONA_EMBEDDING_MODE: "static" } });
    const second = await startServer({
      databasePath: first.databasePath,
      env: { CPERSONA_EMBEDDING_MODE: "static" },
    });
    for (let i = 0; i < 40; i++) {
      const row = {
        agent_id: "agent-a",
        content: `the same text ${i}`,
        ...(i % 2 === 0 ? { id: `m${i}` } : {}),
      };
      const answers = await Promise.all([first.call("store", row), second.call("store", row)]);
      expect(answers.map(({ result }) => result).sort()).toEqual(["skipped", "stored"]);
      expect(answers[0]?.["id"]).toBe(answers[1]?.["id"]);
    }
    expect(sql(first.databasePath, "SELECT count(*) AS n FROM memories")).toEqual([{ n: 40 }]);
  });
});
