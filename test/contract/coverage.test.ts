import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../support/root.js";
import { KNOWN_GAPS, REQUIREMENTS } from "./requirements.js";
import type { Scenario } from "./scenario.js";
import { verifies } from "./verifies.js";

const TESTS = join(ROOT, "test");

function citedIds(): Set<string> {
  const cited = new Set<string>();
  for (const name of readdirSync(TESTS, { recursive: true, encoding: "utf8" })) {
    const text = (): string => readFileSync(join(TESTS, name), "utf8");
    if (name.endsWith(".test.ts"))
      for (const match of text().matchAll(/\bverifies(?:\.fails|\.skipIf\([^)]*\))?\(\s*"([^"]+)"/g))
        cited.add(match[1] as string);
    if (name.includes("scenarios") && name.endsWith(".json"))
      for (const { verifies: id } of JSON.parse(text()) as Scenario[]) cited.add(id);
  }
  return cited;
}

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
