import { describe, expect, it } from "vitest";
import { CONNECTING, SMALL_TALK } from "../../../bench/quality/ambient-corpus.mjs";
import { readPrompt } from "../../../ts/ambient/prompt.js";

const EARLIER = ["where does the staging database live?", "決済サービスのタイムアウトを設定したい"];

describe("a prompt", () => {
  it("is composed of the earlier ones and itself, without a copy of itself at the end", () => {
    const prompt = readPrompt("and the backups?", [...EARLIER, "and the backups? "]);
    expect(prompt.composed).toBe([...EARLIER, "and the backups?"].join("\n"));
    expect(prompt.kind).toBe("subject");
  });

  it.each(SMALL_TALK)("says nothing: %s", (text) => {
    expect(readPrompt(text, EARLIER).kind).toBe("none");
  });

  it.each(CONNECTING)("connects to the earlier ones, and to nothing without them: %s", (text) => {
    expect(readPrompt(text, EARLIER)).toMatchObject({ kind: "connecting" });
    expect(readPrompt(text, []).kind).toBe("none");
  });

  it("loses injected blocks before anything is looked for", () => {
    const block =
      "<ambient-recall>\nRecalled from long-term memory (cpersona-native): …\nzebra\n</ambient-recall>";
    const prompt = readPrompt(`${block}\nthe parser fails`, [`${block}`]);
    expect(prompt.composed).toBe("the parser fails");
  });

  it("keeps the first and the last part of a paste", () => {
    const prompt = readPrompt(`first words ${"filler ".repeat(9000)} last words`, []);
    expect(prompt.current.length).toBeLessThan(3100);
    expect(prompt.current).toMatch(/^first words/);
    expect(prompt.current).toMatch(/last words$/);
  });

  it("survives lone surrogates and NUL", () => {
    expect(readPrompt("the \ud83d parser\0 fails", []).current.isWellFormed()).toBe(true);
  });
});
