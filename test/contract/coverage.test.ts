import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../support/root.js";
import { withoutComments, withoutSkipped } from "../support/source-text.js";
import { KNOWN_GAPS, REQUIREMENTS } from "./requirements.js";
import type { Scenario } from "./scenario.js";
import { verifies } from "./verifies.js";

const TESTS = join(ROOT, "test");

/** The ids that tests of this source text cite. Tests that never run cite nothing. */
function citationsIn(source: string): string[] {
  const live = withoutSkipped(withoutComments(source));
  return [...live.matchAll(/\bverifies(?:\.skipIf\([^)]*\))?\(\s*"([^"]+)"/g)].map(([, id]) => id as string);
}

function citedIds(): Set<string> {
  const cited = new Set<string>();
  for (const name of readdirSync(TESTS, { recursive: true, encoding: "utf8" })) {
    const text = (): string => readFileSync(join(TESTS, name), "utf8");
    if (name.endsWith(".test.ts")) for (const id of citationsIn(text())) cited.add(id);
    if (name.includes("scenarios") && name.endsWith(".json"))
      for (const { verifies: id } of JSON.parse(text()) as Scenario[]) cited.add(id);
  }
  return cited;
}

describe("a citation", () => {
  // Put together, so that this file cites nothing itself.
  const call = (id: string, how = ""): string => `${["ver", "ifies"].join("")}${how}("${id}", () => {});`;

  it.each([
    ["is a call", call("a.b"), ["a.b"]],
    ["may depend on the platform", call("a.b", '.skipIf(process.platform === "win32")'), ["a.b"]],
    ["counts inside a suite", `describe("x", () => { ${call("a.b")} });`, ["a.b"]],
    ["is none in a line comment", `// ${call("a.b")}`, []],
    ["is none in a block comment", `/*\n${call("a.b")}\n*/`, []],
    ["is none in a skipped suite", `describe.skip("x )", () => { ${call("a.b")} }); ${call("c.d")}`, ["c.d"]],
    ["is none in a skipped table", `describe.skip.each([1])("%s", () => { ${call("a.b")} });`, []],
    ["is none when it is always skipped", call("a.b", ".skipIf(true)"), []],
    ["is none inside a suite that is to be written", `xdescribe("x", () => { ${call("a.b")} });`, []],
  ])("%s", (_, source, ids) => {
    expect(citationsIn(source)).toEqual(ids);
  });
});

describe("the requirements", () => {
  const cited = citedIds();

  it.each(Object.keys(REQUIREMENTS))("%s has a test that cites it", (id) => {
    expect(Object.hasOwn(KNOWN_GAPS, id) || cited.has(id)).toBe(true);
  });

  it("hold every id that is cited", () => {
    const unknown = [...cited].filter((id) => !Object.hasOwn(REQUIREMENTS, id));
    expect(unknown).toEqual([]);
  });

  it("list no gap that has a test by now", () => {
    expect(Object.keys(KNOWN_GAPS).filter((id) => cited.has(id))).toEqual([]);
  });

  it("throw for an id that they do not hold", () => {
    const unknown = "no.such-id" as keyof typeof REQUIREMENTS;
    expect(() => verifies(unknown, () => {})).toThrow("no requirement has the id");
  });
});
