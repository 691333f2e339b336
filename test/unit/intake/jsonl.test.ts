import { describe, expect, it } from "vitest";
import { draftsFromJsonl } from "../../../ts/intake/jsonl.js";
import { collect, linesOf } from "./support.js";

const read = (...records: unknown[]) => collect(draftsFromJsonl(linesOf(...records), "x.jsonl"));

describe("draftsFromJsonl", () => {
  it("reads memories, episodes and profiles of an export", async () => {
    const { drafts, notes } = await read(
      {
        _type: "header",
        version: "cpersona-export/1.1",
        memory_count: 1,
        episode_count: 1,
        profile_count: 1,
      },
      {
        _type: "memory",
        id: 1,
        agent_id: "a1",
        msg_id: "m1",
        content: "Port 6432.",
        source: { type: "Agent", id: "a1", name: "" },
        timestamp: "2026-11-29T23:01:36.188629+00:00",
        metadata: { k: 1, tags: ["db"] },
        project_id: "X",
        channel: "chat",
      },
      {
        _type: "episode",
        id: 2,
        summary: "A session.",
        keywords: "port db",
        end_time: "2026-11-29 23:05:33",
      },
      { _type: "profile", agent_id: "a1", user_id: "", content: "Brief.", updated_at: "2026-11-29 23:05:33" },
    );
    expect(notes).toEqual([]);
    expect(drafts).toEqual([
      {
        content: "Port 6432.",
        id: "m1",
        timestamp: "2026-11-29T23:01:36.188629+00:00",
        source: { type: "Agent", id: "a1", name: "" },
        metadata: { k: 1, tags: ["db"] },
        tags: ["db"],
        project_id: "X",
        channel: "chat",
      },
      expect.objectContaining({
        kind: "episode",
        timestamp: "2026-11-29T23:05:33Z",
        metadata: { keywords: "port db" },
      }),
      expect.objectContaining({ kind: "profile", content: "Brief." }),
    ]);
  });

  it("takes plain objects with a content", async () => {
    const { drafts } = await read({ content: "plain", id: "p1" }, { content: "no id" });
    expect(drafts[0]).toEqual({ content: "plain", id: "p1" });
    expect(drafts[1]?.id).toMatch(/^x\.jsonl#/);
  });

  it("names bad lines by number and goes on", async () => {
    const { drafts, notes } = await read(
      { content: "a" },
      '{"content": "cut o',
      "[1]",
      { _type: "memory" },
      { _type: "thing" },
      "",
      { content: "b" },
    );
    expect(drafts.map((draft) => draft.content)).toEqual(["a", "b"]);
    expect(notes.map((note) => note.line)).toEqual([2, 3, 4, 5]);
  });

  it("repairs half surrogate pairs and drops NUL, and says so", async () => {
    const { drafts, notes } = await read('{"content": "a\\ud83cb\\u0000c", "metadata": {"k": "\\udc00"}}');
    expect(drafts[0]?.content).toBe("a\ufffdbc");
    expect(drafts[0]?.metadata).toEqual({ k: "\ufffd" });
    expect(notes).toHaveLength(1);
  });

  it("says when the header promised more than there is", async () => {
    const { notes } = await read(
      { _type: "header", memory_count: 3 },
      { _type: "memory", content: "one" },
      { _type: "entity", id: 1 },
    );
    expect(notes.map((note) => note.text)).toEqual([
      "1 records about entities, relations or folders were left out",
      "the header declares 3 memory records, the file holds 1",
    ]);
  });
});
