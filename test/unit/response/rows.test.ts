import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryError } from "../../../ts/errors.js";
import { failureAnswer, rejectedAnswer } from "../../../ts/response/answers.js";
import { contentsAnswer } from "../../../ts/response/contents.js";
import { toItem, toListedMemory } from "../../../ts/response/rows.js";
import { aMemory, anEpisode } from "../../support/builders.js";

const memory = (content: string, id = 1) => ({
  ...aMemory(content),
  id,
  locked: false,
  kind: "note" as const,
  tags: [],
});

describe("previews", () => {
  it("are prefixes of at most so many characters, marked exactly when something is cut", () => {
    const text = fc.string({ unit: "binary" }).map((value) => value.toWellFormed());
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 30 }), (content, previewChars) => {
        const row = toListedMemory(memory(content), { previewChars });
        const shown = row["content"] as string;
        const whole = Array.from(content);
        expect(shown).toBe(whole.slice(0, previewChars).join(""));
        expect(row["content_truncated"]).toBe(whole.length > previewChars ? true : undefined);
        expect(row["content_len"]).toBe(whole.length > previewChars ? whole.length : undefined);
        expect("content_truncated" in row).toBe(whole.length > previewChars);
      }),
    );
  });
});

describe("an item", () => {
  it("of an episode is labelled and dated by its start, else by when it was stored", () => {
    const episode = { ...anEpisode("a plan", { startTime: "2026-01-01T00:00:00Z" }), id: 3 };
    expect(toItem({ kind: "ep", episode })).toEqual({
      ref: "ep:3",
      content: "[Episode] a plan",
      source: { System: "episode" },
      timestamp: "2026-01-01T00:00:00Z",
      resolved: false,
    });
    expect(toItem({ kind: "ep", episode: { ...episode, startTime: null } })).toMatchObject({
      timestamp: "2026-11-30 09:00:00",
    });
  });

  it("leaves out what is empty", () => {
    const bare = { ...memory("text"), source: {}, timestamp: "" };
    expect(toItem({ kind: "mem", memory: bare })).toEqual({ ref: "mem:1", content: "text" });
  });
});

describe("get_contents", () => {
  it("defers every row behind the first that does not fit, in order", () => {
    const rows = [10_000, 29_000, 5000, 10].map((length, i) => ({
      kind: "mem" as const,
      memory: memory("x".repeat(length), i + 1),
    }));
    const answer = contentsAnswer({ rows, missing: ["bad"] });
    expect(answer).toMatchObject({ missing: ["bad"], budget_chars: 40_000 });
    const shown = (answer["items"] as { ref: string }[]).map((item) => item.ref);
    expect([...shown, ...(answer["deferred"] as string[])]).toEqual(["mem:1", "mem:2", "mem:3", "mem:4"]);
    expect(shown).toEqual(["mem:1", "mem:2"]);
  });
});

describe("failures", () => {
  it("say our own words, and of foreign errors nothing", () => {
    const ours = new MemoryError("not_found", "Memory 5 not found");
    expect(failureAnswer(ours)).toEqual({ ok: false, error: "Memory 5 not found" });
    expect(rejectedAnswer(ours)).toEqual({ ok: false, result: "rejected", reason: "Memory 5 not found" });
    const foreign = new Error("SELECT secret FROM /home/kei/memory.db");
    for (const answer of [failureAnswer(foreign), rejectedAnswer(foreign), failureAnswer("thrown text")])
      expect(JSON.stringify(answer)).not.toMatch(/secret|home|thrown/);
  });
});
