import { describe, expect, it } from "vitest";
import { formatCursor, parseCursor } from "../../../ts/domain/cursor.js";
import { type ContentsRef, readContents, textRevision } from "../../../ts/service/contents.js";
import { aMemory, anEpisode } from "../../support/builders.js";

const storedMemory = (content: string) => ({ kind: "note" as const, tags: [], ...aMemory(content) });

const long = "One sentence of about forty characters. ".repeat(40);
const rows = {
  1: { kind: "mem" as const, memory: { ...storedMemory("日本語🎌のメモ"), id: 1, locked: false } },
  2: { kind: "mem" as const, memory: { ...storedMemory(long), id: 2, locked: false } },
};
const read = (...refs: unknown[]) =>
  readContents(refs as ContentsRef[], ({ kind, id }) => {
    if (kind === "ep") return id === 1 ? { kind, episode: { ...anEpisode("a plan for May"), id } } : null;
    return rows[id as 1 | 2] ?? null;
  });
const reason = (ref: unknown): string | undefined => read(ref).unresolved[0]?.reason;
const part = (ref: unknown): string | undefined => read(ref).rows[0]?.range?.text;

describe("readContents", () => {
  it("gives spans in code points, and clamps their end", () => {
    expect(part({ ref: "mem:1", span: [0, 4] })).toBe("日本語🎌");
    expect(part({ ref: "mem:1", span: [4, 900] })).toBe("のメモ");
    expect(read({ ref: "mem:1", span: [4, 900] }).rows[0]?.range).toMatchObject({
      start: 4,
      end: 7,
      contentChars: 7,
    });
  });

  it("gives blocks, one or several, which add up to the text", () => {
    const blocks = read({ ref: "mem:2", block: 0 }).rows[0]?.range?.blocks ?? 0;
    expect(blocks).toBeGreaterThan(2);
    expect(part({ ref: "mem:2", block: [0, blocks - 1] })).toBe(long);
    expect(read({ ref: "mem:2", block: [0, 1] }).rows[0]?.range).toMatchObject({ block: [0, 1] });
  });

  it("means the text of an episode without its label", () => {
    expect(part({ ref: "ep:1", span: [0, 6] })).toBe("a plan");
  });

  it.each([
    [{ ref: "mem:1", node: 0 }, "no_current_nodes"],
    [{ ref: "mem:1", block: 0 }, "no_current_blocks"],
    [{ ref: "mem:2", block: 999 }, "block_out_of_range"],
    [{ ref: "mem:2", block: [2, 1] }, "invalid_range"],
    [{ ref: "mem:2", block: "0" }, "invalid_range"],
    [{ ref: "mem:1", span: [7, 8] }, "span_out_of_range"],
    [{ ref: "mem:1", span: [2, 2] }, "invalid_range"],
    [{ ref: "mem:1", span: [-1, 2] }, "invalid_range"],
    [{ ref: "mem:1", span: [0, 1.5] }, "invalid_range"],
    [{ ref: "mem:1", span: [0, 1], block: 0 }, "invalid_range"],
    [{ ref: "mem:1", revision: "000000000000" }, "stale_revision"],
  ])("says of %j why it cannot be resolved", (ref, expected) => {
    expect(reason(ref)).toBe(expected);
  });

  it("takes a matching revision, JSON texts of objects, and a ref alone", () => {
    expect(part({ ref: "mem:1", span: [0, 1], revision: textRevision("日本語🎌のメモ") })).toBe("日");
    expect(part('{"ref": "mem:1", "span": [0, 2]}')).toBe("日本");
    expect(read({ ref: "mem:1" }).rows[0]?.range).toBeUndefined();
  });

  it("puts what is no ref into missing, whatever it is", () => {
    expect(
      read("mem:9", { ref: "mem:9", span: [0, 1] }, { ref: 3 }, 7, null, ["mem:1"], "{broken", {}).missing,
    ).toEqual(["mem:9", "mem:9", "3", "7", "null", '["mem:1"]', "{broken", "{}"]);
  });
});

describe("list cursors", () => {
  it("come back as they went, and nothing else is taken for one", () => {
    const row = { createdAt: "2026-11-30 09:00:00", id: 12 };
    expect(parseCursor(formatCursor(row))).toEqual(row);
    for (const bad of ["", "zzz", "12", formatCursor({ createdAt: "x", id: 1 }), "A".repeat(5000)])
      expect(parseCursor(bad)).toBeNull();
  });
});
