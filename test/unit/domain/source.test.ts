import { describe, expect, it } from "vitest";
import { canonicalSource, defaultSource, type Source } from "../../../ts/domain/source.js";

describe("canonicalSource", () => {
  const cases: [Source, Source][] = [
    ["user", { type: "User", id: "", name: "" }],
    ["ASSISTANT", { type: "Agent", id: "", name: "" }],
    ["ai", { type: "Agent", id: "", name: "" }],
    ["somebody", "somebody"],
    [
      { type: "user", id: "u" },
      { type: "User", id: "u" },
    ],
    [
      { type: "Session", id: "s" },
      { type: "System", id: "s" },
    ],
    [
      { type: "AGENT", extra: 1 },
      { type: "Agent", extra: 1 },
    ],
    [
      { type: "robot", id: "r" },
      { type: "robot", id: "r" },
    ],
    [{ User: "bob" }, { type: "User", id: "bob", name: "bob" }],
    [{ System: "cron" }, { type: "System", id: "cron", name: "" }],
    [{ assistant: "c" }, { type: "Agent", id: "c", name: "c" }],
    [{ User: { id: "u", name: "N", extra: 1 } }, { type: "User", id: "u", name: "N", extra: 1 }],
    [{ User: { name: "N" } }, { type: "User", id: "", name: "N" }],
    [{ User: 5 }, { User: 5 }],
    [{ User: null }, { User: null }],
    [{ User: ["a"] }, { User: ["a"] }],
    [
      { User: "bob", more: 1 },
      { User: "bob", more: 1 },
    ],
    [{ type: 5 }, { type: 5 }],
    [{}, {}],
  ];
  it.each(cases)("makes %j into %j", (given, folded) => {
    expect(canonicalSource(given)).toEqual(folded);
  });

  it.each(cases)("changes nothing of what it made of %j", (given) => {
    const once = canonicalSource(given);
    expect(canonicalSource(once)).toEqual(once);
  });

  it("takes the agent when nothing is given", () => {
    expect(defaultSource("a1")).toEqual({ type: "Agent", id: "a1", name: "" });
  });
});
