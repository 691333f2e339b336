// recall_with_context: rows and the caller's conversation in one list, by the moment that stamps name.

import { describe, expect } from "vitest";
import { type Answer, startInProcess, type ToolCaller } from "../support/client.js";
import type { Settings } from "../support/settings.js";
import { put } from "./calls.js";
import { verifies } from "./verifies.js";

type Entry = Record<string, unknown>;

const merge = (tools: ToolCaller, entries: readonly Entry[], more: object = {}): Promise<Answer> =>
  tools.call("recall_with_context", {
    agent_id: "agent-a",
    query: "umbrella",
    external_context: entries,
    ...more,
  });

const contents = ({ messages }: Answer): string[] =>
  (messages as Answer[]).map(({ content }) => String(content));

const said = (content: string, timestamp?: string): Entry => ({ role: "user", content, timestamp });

/** Memories of these texts and stamps. */
async function holding(rows: Readonly<Record<string, string>>, settings: Settings = {}): Promise<ToolCaller> {
  const tools = await startInProcess({ settings });
  for (const [content, timestamp] of Object.entries(rows)) await put(tools, content, { timestamp });
  return tools;
}

describe("the order", () => {
  verifies("context.chronological", "rows and entries in every form of stamp", async () => {
    const tools = await holding({
      "umbrella at two": "2026-03-01T11:00:00+09:00",
      "umbrella at four": "2026-02-28T23:00:00-05:00",
      "umbrella of the day": "2026-03-01",
    });
    const answer = await merge(tools, [
      said("at five", "20260301T050000"),
      said("at three", "2026-03-01T03:00:00Z"),
      said("at one", "2026-03-01T01:00:00"),
      said("half past four", "2026-03-01 13:30:00 +09:00"),
    ]);
    expect(contents(answer)).toEqual([
      "umbrella of the day",
      "at one",
      "umbrella at two",
      "at three",
      "umbrella at four",
      "half past four",
      "at five",
    ]);
  });

  verifies("context.chronological", "not by the match, and equal moments in merged order", async () => {
    const tools = await holding({
      "umbrella umbrella red": "2026-03-01T00:00:00Z",
      "umbrella stand": "2026-03-02T09:00:00+09:00",
    });
    const answer = await merge(
      tools,
      [said("first", "2026-03-02"), said("second", "2026-03-02T01:00:00+01:00")],
      { query: "umbrella red" },
    );
    expect(contents(answer)).toEqual(["umbrella umbrella red", "umbrella stand", "first", "second"]);
  });

  verifies("context.undated-first", "rows, then entries, in merged order", async () => {
    const tools = await holding({
      "umbrella once": "some day in spring",
      "umbrella then": "2026-03-01T00:00:00Z",
    });
    const answer = await merge(tools, [
      said("later", "2030-01-01T00:00:00Z"),
      said("no stamp"),
      said("empty stamp", ""),
      said("nonsense", "24:00"),
      said("an hour that is none", "2026-03-01T24:00:00"),
    ]);
    expect(contents(answer)).toEqual([
      "umbrella once",
      "no stamp",
      "empty stamp",
      "nonsense",
      "an hour that is none",
      "umbrella then",
      "later",
    ]);
  });

  verifies("recall.limit", "0 leaves the conversation", async () => {
    const tools = await holding({ "umbrella at two": "2026-03-01T02:00:00Z" });
    expect(contents(await merge(tools, [said("hello")], { limit: 0 }))).toEqual(["hello"]);
  });
});

describe("entries", () => {
  verifies("context.echo", "trimmed as rows are, without a ref", async () => {
    const long = "word ".repeat(300).trim();
    const entries = [
      { role: "user", content: long, name: "Bo", user_id: "7", timestamp: "2026-03-01" },
      { role: "assistant", content: "short", timestamp: "2026-03-02" },
    ];
    const { messages } = await merge(await holding({}), entries);
    expect(messages).toEqual([
      {
        content: long.slice(0, 500),
        content_truncated: true,
        content_len: 1499,
        source: { type: "User", id: "discord:7", name: "Bo" },
        timestamp: "2026-03-01",
        context_type: "conversation",
      },
      {
        content: "short",
        source: { type: "Agent", id: "self" },
        timestamp: "2026-03-02",
        context_type: "conversation",
      },
    ]);
    const whole = await merge(await holding({}, { CPERSONA_RECALL_PREVIEW_CHARS: "0" }), entries);
    expect(contents(whole)).toEqual([long, "short"]);
  });

  for (const role of ["user", "assistant", "tool"])
    verifies("context.leaves-out-what-is-held", role, async () => {
      const tools = await holding({ "umbrella stand": "2026-03-01", "umbrella rack": "2026-03-02" });
      const answer = await merge(tools, [{ role, content: " UMBRELLA stand " }]);
      const rows = (answer["messages"] as Answer[]).filter((row) => "ref" in row);
      expect(rows.map(({ content }) => content)).toEqual(["umbrella rack"]);
    });

  verifies("context.leaves-out-what-is-held", "a cut preview of a long row", async () => {
    const tools = await holding({ [`umbrella ${"in the long hall ".repeat(60)}`.trim()]: "2026-03-01" });
    const [row] = (await merge(tools, []))["messages"] as Answer[];
    expect(row).toMatchObject({ content_truncated: true });
    const again = await merge(tools, [{ role: "tool", content: row?.["content"] }]);
    expect(again["messages"]).toEqual([]);
  });

  verifies("context.leaves-out-what-is-held", "31 and 32 characters", async () => {
    const text = "umbrella-stand-in-the-long-hall-of-the-house";
    const tools = await holding({ [text]: "2026-03-01" });
    expect(contents(await merge(tools, [{ role: "tool", content: text.slice(0, 31) }]))).toEqual([text]);
    expect(contents(await merge(tools, [{ role: "tool", content: text.slice(0, 32) }]))).toEqual([]);
  });

  verifies("context.filter-only", async () => {
    const tools = await holding({ "umbrella stand": "2026-03-01" });
    const answer = await merge(tools, [
      { role: "tool", content: "umbrella stand" },
      { role: "system", content: "be kind" },
      { role: "tool", content: "once more" },
      said("hello"),
    ]);
    expect(contents(answer)).toEqual(["hello"]);
    expect(answer["context_filter_only"]).toMatchObject({ roles: ["tool", "system"] });
    expect(await merge(tools, [said("hello")])).not.toHaveProperty("context_filter_only");
  });

  verifies("context.field-issues", async () => {
    const tools = await holding({});
    const entries = [
      { role: "user", content: "kept", timestamp: 5, name: {} },
      { role: "user" },
      said("fine", "2026-03-01"),
      { role: "user", content: 7 },
      { role: "user", content: "nothing", name: null, user_id: null },
    ];
    const answer = await merge(tools, entries);
    expect(contents(answer)).toEqual(["kept", "nothing", "fine"]);
    expect(answer["context_field_issues"]).toMatchObject({
      entries: [
        { index: 0, fields: ["name", "timestamp"] },
        { index: 1, fields: ["content"] },
        { index: 3, fields: ["content"] },
      ],
    });
    expect(await merge(tools, [said("fine")])).not.toHaveProperty("context_field_issues");
  });

  verifies("context.field-issues", "the modes reject and off", async () => {
    const entries = [said("fine"), { role: "user", content: "kept", timestamp: 5 }];
    const strict = await holding({}, { CPERSONA_EXTERNAL_CONTEXT_MODE: "reject" });
    expect(await merge(strict, entries)).toEqual({
      ok: false,
      error: "external_context[1].timestamp must be a text",
    });
    const silent = await holding({}, { CPERSONA_EXTERNAL_CONTEXT_MODE: "off" });
    const answer = await merge(silent, entries);
    expect(contents(answer)).toEqual(["fine", "kept"]);
    expect(answer).not.toHaveProperty("context_field_issues");
  });
});
