// What is kept: over restarts, between processes, and through a kill.

import { join } from "node:path";
import { describe, expect, vi } from "vitest";
import { texts } from "../contract/calls.js";
import { verifies } from "../contract/verifies.js";
import { type Answer, serverEnvironment, startServer, type TestServer } from "../support/client.js";
import { nativeAbsence } from "../support/native.js";
import { frames, startRaw } from "../support/process.js";
import { sql } from "../support/store.js";
import { tempFolder } from "../support/temp.js";

const STATIC = { CPERSONA_EMBEDDING_MODE: "static" };
const own = (server: TestServer, query: string, limit = 20) => texts(server, query, { limit });
const store = (server: TestServer, content: string) => server.call("store", { agent_id: "agent-a", content });

/** `CPERSONA_TEST_KILLS=500` for a long night. */
const KILLS = Number(process.env["CPERSONA_TEST_KILLS"] ?? 20);
vi.setConfig({ testTimeout: 30_000 + KILLS * 5_000 });

/** Lists come in pages that fit a client. */
async function countAll(server: TestServer): Promise<number> {
  let total = 0;
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const page: Answer = await server.call("list_memories", {
      agent_id: "agent-a",
      limit: 500,
      ...(cursor === "" ? {} : { cursor }),
    });
    total += page["count"];
    cursor = page["next_cursor"];
  }
  return total;
}

describe("a database", () => {
  verifies("memory.survives-restart", async () => {
    const databasePath = join(tempFolder(), "memory.db");
    const first = await startServer({ databasePath, env: STATIC });
    await store(first, "the invoices are kept in the blue folder");
    await store(first, "請求書は青いフォルダにあります");
    await first.close();
    for (let i = 0; i < 2; i++) {
      const next = await startServer({ databasePath, env: STATIC });
      expect(await own(next, "invoices")).toContain("the invoices are kept in the blue folder");
      expect(await own(next, "青いフォルダ")).toContain("請求書は青いフォルダにあります");
      expect(await own(next, "")).toHaveLength(2);
      const found = await next.call("recall", { agent_id: "agent-a", query: "invoices in the blue folder" });
      expect(found["messages"].at(-1).match_reason.cosine).toBeGreaterThan(0.5);
      expect((await store(next, "請求書は青いフォルダにあります"))["result"]).toBe("skipped");
      await next.close();
    }
  });

  verifies("memory.two-processes", "each row at once, by words and by meaning", async () => {
    const databasePath = join(tempFolder(), "memory.db");
    const servers = [
      await startServer({ databasePath, env: STATIC }),
      await startServer({ databasePath, env: STATIC }),
    ] as const;
    for (let i = 0; i < 6; i++) {
      const [writer, reader] = i % 2 === 0 ? servers : [servers[1], servers[0]];
      const { id } = await store(writer, `umbrella number ${i} stands in the hall`);
      const { messages } = await reader.call("recall", {
        agent_id: "agent-a",
        query: `umbrella number ${i}`,
      });
      const row = messages.find((message: Answer) => message["ref"] === `mem:${id}`);
      expect(row?.match_reason.cosine).toBeGreaterThan(0.5);
      if (i === 5) {
        await writer.call("delete_memory", { agent_id: "agent-a", memory_id: id });
        expect(await own(reader, "umbrella")).toHaveLength(5);
      }
    }
  });

  verifies("memory.two-processes", "200 rows each at the same time", async () => {
    const databasePath = join(tempFolder(), "memory.db");
    const servers = [
      await startServer({ databasePath, env: STATIC }),
      await startServer({ databasePath, env: STATIC }),
    ];
    const write = async (server: TestServer, name: string): Promise<Answer[]> => {
      const answers: Answer[] = [];
      for (let i = 0; i < 200; i += 20)
        answers.push(
          ...(await Promise.all(
            Array.from({ length: 20 }, (_, j) => store(server, `umbrella ${name} ${i + j}`)),
          )),
        );
      return answers;
    };
    const answers = (await Promise.all(servers.map((server, i) => write(server, `p${i}`)))).flat();
    expect(answers.filter((answer) => answer["result"] === "stored")).toHaveLength(400);
    expect(new Set(answers.map((answer) => answer["id"])).size).toBe(400);
    for (const server of servers) {
      expect(await countAll(server)).toBe(400);
      expect(await own(server, "umbrella", 100)).toHaveLength(100);
    }
  });

  verifies("memory.two-processes", "eight of them write and read, each finds every row", async () => {
    const databasePath = join(tempFolder(), "memory.db");
    const servers = await Promise.all(
      Array.from({ length: 8 }, () => startServer({ databasePath, env: STATIC })),
    );
    const rowOf = async (reader: TestServer, query: string, id: number): Promise<Answer | undefined> => {
      const { messages } = await reader.call("recall", { agent_id: "agent-a", query });
      return messages.find((message: Answer) => message["ref"] === `mem:${id}`)?.match_reason;
    };
    const work = async (writer: TestServer, name: string): Promise<void> => {
      for (let i = 0; i < 10; i++) {
        const text = `the ${name}${i} umbrella stands in the hall of house ${i}`;
        const { id } = await store(writer, text);
        // By words and by meaning, in whichever process, the moment it is acknowledged.
        for (const reader of [servers[(i * 3 + 1) % 8], servers[(i * 5 + 4) % 8]] as TestServer[]) {
          expect(await rowOf(reader, `${name}${i}`, id)).toBeDefined();
          expect((await rowOf(reader, text, id))?.["cosine"]).toBeGreaterThan(0.9);
        }
      }
    };
    await Promise.all(servers.map((server, i) => work(server, `zq${"abcdefgh"[i]}`)));
    for (const server of servers) {
      expect(await countAll(server)).toBe(80);
      expect(await own(server, "umbrella", 100)).toHaveLength(80);
    }
  });

  verifies(
    "memory.two-processes",
    "a log of changes that grows no further hides nothing from either",
    async () => {
      const databasePath = join(tempFolder(), "memory.db");
      const servers = [
        await startServer({ databasePath, env: STATIC }),
        await startServer({ databasePath, env: STATIC }),
      ] as const;
      const logged = (): number =>
        Number(sql(databasePath, "SELECT count(*) AS n FROM vector_changes")[0]?.["n"]);
      for (let round = 0; round < 3; round++) {
        const ids: number[] = [];
        for (const [i, server] of servers.entries())
          ids.push((await store(server, `umbrella ${round} of house ${i} stands in the hall`))["id"]);
        sql(
          databasePath,
          `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
         INSERT INTO vector_changes (record_key) SELECT ${(ids[0] ?? 0) * 2} FROM n`,
        );
        for (const [i, server] of servers.entries()) {
          const query = `umbrella ${round} of house ${1 - i} stands in the hall`;
          const { messages } = await server.call("recall", { agent_id: "agent-a", query });
          const row = messages.find((message: Answer) => message["ref"] === `mem:${ids[1 - i]}`);
          expect(row?.match_reason.cosine).toBeGreaterThan(0.9);
        }
      }
      const askUntilShort = async (): Promise<void> => {
        await own(servers[0], "umbrella in the hall");
        expect(logged()).toBeLessThan(10_100);
      };
      // An index in memory leaves no word of how far it is, so the log stays for it.
      const hasIndexFiles = nativeAbsence === "" && process.env["CPERSONA_NATIVE"] !== "off";
      if (hasIndexFiles) await vi.waitFor(askUntilShort, { timeout: 15_000, interval: 300 });
      for (const server of servers) expect(await own(server, "umbrella in the hall")).toHaveLength(6);
    },
  );

  verifies("memory.two-processes", "the same text at the same time is stored once", async () => {
    const databasePath = join(tempFolder(), "memory.db");
    const servers = [await startServer({ databasePath }), await startServer({ databasePath })];
    for (let i = 0; i < 20; i++) {
      const both = await Promise.all(servers.map((server) => store(server, `umbrella ${i}`)));
      expect(both.map((answer) => answer["result"]).sort()).toEqual(["skipped", "stored"]);
      expect(both[0]?.["id"]).toBe(both[1]?.["id"]);
    }
  });

  verifies(
    "memory.survives-restart",
    "kill -9 in the middle of writing loses nothing acknowledged",
    async () => {
      const databasePath = join(tempFolder(), "memory.db");
      const acknowledged = new Set<number>();
      for (let round = 0; round < KILLS; round++) {
        const server = startRaw({ env: serverEnvironment(databasePath, STATIC) });
        await server.initialize();
        for (let id = 1; id <= 300; id++)
          server.send({
            id,
            method: "tools/call",
            params: { name: "store", arguments: { agent_id: "agent-a", content: `umbrella ${round} ${id}` } },
          });
        await server.answer(20 + (round % 4) * 40);
        server.child.kill("SIGKILL");
        await server.exit;
        const whole = server.stdout().slice(0, server.stdout().lastIndexOf("\n") + 1);
        for (const frame of frames(whole)) {
          const answer = (frame["result"] as { structuredContent?: Answer }).structuredContent;
          if (answer?.["result"] === "stored") acknowledged.add(answer["id"]);
        }
      }
      expect(acknowledged.size).toBeGreaterThan(100);
      const server = await startServer({ databasePath, env: STATIC });
      const ids = [...acknowledged];
      const rows = new Set(sql(databasePath, "SELECT id FROM memories").map((row) => Number(row["id"])));
      expect(ids.filter((id) => !rows.has(id))).toEqual([]);
      // Row, words and vector come in one transaction: none of them is there without the others.
      const [counts] = sql(
        databasePath,
        `SELECT (SELECT count(*) FROM memories) AS rows,
                (SELECT count(*) FROM memory_terms WHERE memory_terms MATCH 'umbrella') AS words,
                (SELECT count(*) FROM memories WHERE id * 2 IN (SELECT record_key FROM embeddings)) AS vectors`,
      );
      expect(counts?.["words"]).toBe(counts?.["rows"]);
      expect(counts?.["vectors"]).toBe(counts?.["rows"]);
      expect(Number(counts?.["rows"])).toBeGreaterThanOrEqual(acknowledged.size);
      const newest = ids[ids.length - 1] as number;
      for (const id of [...ids.filter((_, i) => i % Math.ceil(ids.length / 40) === 0), newest]) {
        const { items } = await server.call("get_contents", { agent_id: "agent-a", refs: [`mem:${id}`] });
        const { messages } = await server.call("recall", { agent_id: "agent-a", query: items[0].content });
        const row = messages.find((message: Answer) => message["ref"] === `mem:${id}`);
        expect(row?.content).toBe(items[0].content);
        // Texts of the same digits have the same vector, of which newer ones come first; many kills fill the window.
        if (id === newest) expect(row?.match_reason.cosine).toBeGreaterThan(0.9);
      }
      const checks = ["fts_integrity", "null_embedding", "vector_index", "sqlite_integrity"];
      // The index takes the last writes up in the background.
      await vi.waitFor(async () => {
        const { issues } = await server.call("check_health", { agent_id: "agent-a" });
        expect(issues.filter(({ type }: Answer) => checks.includes(type))).toEqual([]);
      }, 20_000);
    },
  );
});
