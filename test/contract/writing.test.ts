// What `store` and `delete_memory` promise.

import { describe, expect } from "vitest";
import { startInProcess } from "../support/client.js";
import { ask, listed, put, texts } from "./calls.js";
import { verifies } from "./verifies.js";

describe("store", () => {
  verifies("store.two-forms", "both give the same row", async () => {
    const tools = await startInProcess();
    const memory = {
      content: "the staging host is gamma",
      id: "m1",
      source: { type: "User", id: "u1", name: "Kei" },
      timestamp: "2026-01-02T03:04:05Z",
    };
    await tools.call("store", { agent_id: "agent-a", ...memory });
    await tools.call("store", { agent_id: "agent-b", message: memory });
    const rowOf = async (agent: string) => {
      const answer = await tools.call("recall", { agent_id: agent, query: "staging" });
      const { ref: _, match_reason: __, ...row } = answer["messages"][0];
      return row;
    };
    expect(await rowOf("agent-a")).toEqual(memory);
    expect(await rowOf("agent-b")).toEqual(memory);
  });

  for (const field of [{ content: "x" }, { id: "x" }, { source: {} }, { timestamp: "x" }, { metadata: {} }]) {
    verifies("store.two-forms", `no ${Object.keys(field)[0]} beside a message`, async () => {
      const tools = await startInProcess();
      const answer = await tools.call("store", { agent_id: "agent-a", message: { content: "a" }, ...field });
      expect(answer).toMatchObject({ ok: false, result: "rejected" });
      expect(answer["reason"]).toMatch(/^message must not be mixed/);
    });
  }

  verifies("store.cleaning", async () => {
    const tools = await startInProcess();
    await put(tools, "  [Memory from 2026-01-02] the lamp is green \n");
    expect(await listed(tools)).toEqual(["the lamp is green"]);
    const again = await tools.call("store", { agent_id: "agent-a", content: "the lamp is green" });
    expect(again).toMatchObject({ result: "skipped" });
    const empty = await tools.call("store", { agent_id: "agent-a", content: "[Memory from a] " });
    expect(empty).toMatchObject({ result: "rejected", reason: "content must not be empty" });
  });

  verifies("store.source", async () => {
    const tools = await startInProcess();
    await put(tools, "first note", { source: { type: "assistant", id: "c", name: "Claude" } });
    await put(tools, "second note");
    const [second, first] = (await tools.call("list_memories", { agent_id: "agent-a" }))["memories"];
    expect(first.source).toEqual({ type: "Agent", id: "c", name: "Claude" });
    expect(second.source).toEqual({ type: "Agent", id: "agent-a", name: "" });
  });

  verifies("store.timestamp", async () => {
    const tools = await startInProcess();
    await put(tools, "dated note", { timestamp: "2020-05-06 07:08 +09:00" });
    await put(tools, "undated note");
    await put(tools, "odd note", { timestamp: "last tuesday" });
    const rows = (await tools.call("list_memories", { agent_id: "agent-a" }))["memories"];
    expect(rows.map((row: { timestamp: string }) => row.timestamp)).toEqual([
      "last tuesday",
      "2026-11-30T09:00:00.000Z",
      "2020-05-06 07:08 +09:00",
    ]);
  });

  const AHEAD = "2026-11-30T09:05:01Z";
  verifies("store.future", "noted by default", async () => {
    const tools = await startInProcess();
    const answer = await tools.call("store", { content: "a", timestamp: AHEAD });
    expect(answer["timestamp_ahead_of_clock"]).toEqual({
      timestamp: AHEAD,
      ahead_by_seconds: 301,
      allowance_seconds: 300,
    });
    const near = await tools.call("store", { content: "b", timestamp: "2026-11-30T09:05:00Z" });
    expect(near).not.toHaveProperty("timestamp_ahead_of_clock");
  });
  verifies("store.future", "refused", async () => {
    const tools = await startInProcess({ settings: { CPERSONA_FUTURE_TIMESTAMP_MODE: "reject" } });
    const answer = await tools.call("store", { content: "a", timestamp: AHEAD });
    expect(answer).toMatchObject({ ok: false, result: "rejected" });
    expect(answer["reason"]).toMatch(/^timestamp must be at most 300 seconds ahead/);
    expect((await tools.call("list_memories", {}))["count"]).toBe(0);
  });
  verifies("store.future", "ignored", async () => {
    const tools = await startInProcess({ settings: { CPERSONA_FUTURE_TIMESTAMP_MODE: "off" } });
    expect(await tools.call("store", { content: "a", timestamp: AHEAD })).not.toHaveProperty(
      "timestamp_ahead_of_clock",
    );
  });

  verifies("bounds.content", async () => {
    const tools = await startInProcess();
    const exact = "🎌".repeat(16_000);
    const whole = await tools.call("store", { content: exact });
    expect(whole).not.toHaveProperty("truncated");
    const longer = await tools.call("store", { content: `${"字".repeat(16_000)}越` });
    expect(longer).toMatchObject({ result: "stored", truncated: true });
    const { items } = await tools.call("get_contents", { refs: [`mem:${longer["id"]}`] });
    expect(items[0].content).toBe("字".repeat(16_000));
  });

  for (const field of ["id", "agent_id", "channel", "project_id"]) {
    verifies("bounds.keys", field, async () => {
      const tools = await startInProcess();
      const fits = await tools.call("store", { content: "a", [field]: "字".repeat(256) });
      expect(fits).toMatchObject({ result: "stored" });
      const longer = await tools.call("store", { content: "b", [field]: "字".repeat(257) });
      expect(longer).toMatchObject({ ok: false, result: "rejected" });
      expect(longer["reason"]).toBe(`${field} must have at most 256 characters`);
    });
  }

  verifies("bounds.timestamp", async () => {
    const tools = await startInProcess();
    expect(await tools.call("store", { content: "a", timestamp: "x".repeat(64) })).toMatchObject({
      ok: true,
    });
    expect(await tools.call("store", { content: "b", timestamp: "x".repeat(65) })).toMatchObject({
      result: "rejected",
      reason: "timestamp must have at most 64 characters",
    });
  });

  for (const field of ["source", "metadata"]) {
    verifies("bounds.json", field, async () => {
      const tools = await startInProcess();
      const ofLength = (chars: number) => ({ k: "x".repeat(chars - '{"k":""}'.length) });
      expect(await tools.call("store", { content: "a", [field]: ofLength(8000) })).toMatchObject({
        ok: true,
      });
      const answer = await tools.call("store", { content: "b", [field]: ofLength(8001) });
      expect(answer).toMatchObject({ ok: false, result: "rejected" });
      expect(answer["reason"]).toBe(`${field} must have at most 8000 characters as JSON, it has 8001`);
    });
  }

  for (const [name, bad] of [
    ["a lone surrogate", "\ud83d"],
    ["NUL", "\0"],
  ] as const) {
    for (const field of ["content", "id", "agent_id", "channel", "project_id", "timestamp"]) {
      verifies("text.well-formed", `${name} in ${field}`, async () => {
        const tools = await startInProcess();
        const answer = await tools.call("store", { content: "x", [field]: `a${bad}b` });
        expect(answer).toMatchObject({ ok: false, result: "rejected" });
        expect(answer["reason"]).toBe(`${field} must not contain ${name}`);
        expect((await tools.call("list_memories", { agent_id: "" }))["count"]).toBe(0);
      });
    }
    for (const field of ["source", "metadata"]) {
      verifies("text.well-formed", `${name} inside ${field}`, async () => {
        const tools = await startInProcess();
        for (const value of [{ k: `a${bad}` }, { [`k${bad}`]: 1 }, { a: [{ b: bad }] }]) {
          const answer = await tools.call("store", { content: "x", [field]: value });
          expect(answer["reason"]).toMatch(new RegExp(`^${field}[\\w.[\\]]* must not contain ${name}$`));
        }
        const escaped = { k: "\\ud83d \\u0000 as plain text" };
        expect(await tools.call("store", { content: "x", [field]: escaped })).toMatchObject({ ok: true });
      });
    }
  }
});

describe("copies", () => {
  verifies("dedup.never-changes-a-row", async () => {
    const tools = await startInProcess();
    const first = { id: "m1", source: { type: "User", id: "u1", name: "" }, timestamp: "2026-01-01" };
    const row = await put(tools, "the port is 5432", first);
    const refs = { agent_id: "agent-a", refs: [`mem:${row}`] };
    const before = await tools.call("get_contents", refs);
    const changed = { source: { type: "Agent", id: "x", name: "" }, timestamp: "2026-02-02" };
    for (const call of [
      { content: "the port is 6432", id: "m1", ...changed },
      { content: "the port is 5432", id: "m2", ...changed },
      { content: "the port is 5432", ...changed },
    ])
      expect(await tools.call("store", { agent_id: "agent-a", ...call })).toMatchObject({
        ok: true,
        result: "skipped",
        id: row,
      });
    expect(await tools.call("get_contents", refs)).toEqual(before);
    expect(await texts(tools, "port 6432")).toEqual(["the port is 5432"]);
  });

  verifies("dedup.skips-say-why", async () => {
    const tools = await startInProcess();
    await put(tools, "one", { id: "m1" });
    const skipped = (call: object) => tools.call("store", { agent_id: "agent-a", ...call });
    expect(await skipped({ content: "two", id: "m1" })).toMatchObject({ reason: "duplicate msg_id" });
    expect(await skipped({ content: "one", id: "m2" })).toMatchObject({ reason: "duplicate content" });
  });

  verifies("dedup.msg-id-sees-global-pool", async () => {
    const tools = await startInProcess();
    const id = await put(tools, "global", { id: "m1" });
    const inProject = { agent_id: "agent-a", content: "own", id: "m1", project_id: "p" };
    expect(await tools.call("store", inProject)).toMatchObject({ result: "skipped", id });
  });

  verifies("dedup.narrow-copy-does-not-count", async () => {
    const tools = await startInProcess();
    await put(tools, "same words", { project_id: "p", channel: "c", id: "m1" });
    await put(tools, "same words", { project_id: "p", id: "m2" });
    await put(tools, "same words", { id: "m1" });
    expect(await listed(tools)).toHaveLength(3);
  });

  verifies("dedup.other-source", async () => {
    const tools = await startInProcess();
    const id = await put(tools, "same words", { source: { type: "User", id: "u1", name: "" } });
    const other = {
      agent_id: "agent-a",
      content: "same words",
      source: { type: "User", id: "u2", name: "" },
    };
    expect(await tools.call("store", other)).toMatchObject({ result: "skipped", id });
  });

  verifies("dedup.deleted-copy-is-gone", async () => {
    const tools = await startInProcess();
    const id = await put(tools, "same words", { id: "m1" });
    await tools.call("delete_memory", { agent_id: "agent-a", memory_id: id });
    expect(await put(tools, "same words", { id: "m1" })).toBeGreaterThan(id);
  });

  const pairs: [string, string][] = [
    ["uses v1.2.3", "uses v1.2.4"],
    ["it is allowed", "it is not allowed"],
    ["Alice owns X", "Bob owns X"],
    ["room 12", "room １２"],
    ["the case", "the Case"],
    ["a  b", "a b"],
    ["line\nbreak", "line\r\nbreak"],
    ["ガス", "カ\u3099ス"],
    ["heart ❤", "heart ❤\ufe0f"],
  ];
  for (const [one, other] of pairs) {
    verifies("dedup.near-duplicates-are-kept", JSON.stringify([one, other]), async () => {
      const tools = await startInProcess();
      await put(tools, one);
      await put(tools, other);
      expect(await listed(tools)).toEqual([other, one]);
    });
  }
});

describe("delete_memory", () => {
  verifies("delete.removes", async () => {
    const tools = await startInProcess();
    const id = await put(tools, "the umbrella of Osaka");
    await put(tools, "the umbrella of Kyoto");
    expect(await tools.call("delete_memory", { agent_id: "agent-a", memory_id: id })).toEqual({
      ok: true,
      deleted_id: id,
    });
    expect(await texts(tools, "umbrella Osaka")).toEqual(["the umbrella of Kyoto"]);
    expect(await texts(tools, "")).toEqual(["the umbrella of Kyoto"]);
    expect(await listed(tools)).toEqual(["the umbrella of Kyoto"]);
    const contents = await tools.call("get_contents", { agent_id: "agent-a", refs: [`mem:${id}`] });
    expect(contents).toMatchObject({ items: [], missing: [`mem:${id}`] });
  });

  verifies("delete.only-own", async () => {
    const tools = await startInProcess();
    const id = await put(tools, "mine");
    const foreign = await tools.call("delete_memory", { agent_id: "agent-b", memory_id: id });
    const unknown = await tools.call("delete_memory", { agent_id: "agent-b", memory_id: 99 });
    expect(foreign).toMatchObject({ ok: false });
    expect(foreign["error"].replace(`${id}`, "99")).toBe(unknown["error"]);
    expect(await ask(tools, "")).toHaveLength(1);
    const nobody = await tools.call("delete_memory", { agent_id: "", memory_id: id });
    expect(nobody).toMatchObject({ ok: false, error: "agent_id must not be empty" });
  });
});
