import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StaticTable } from "../../../ts/native/contract.js";
import { openTwinStaticTable } from "../../../ts/native/twin/static-table.js";
import { nativeAbsence, theAddon } from "../../support/native.js";

const ASSETS = fileURLToPath(new URL("../../../assets/static-multilingual", import.meta.url));
const TABLE = join(ASSETS, "static.ste");

interface Golden {
  readonly text: string;
  readonly ids: readonly number[];
  readonly vector: readonly number[];
}

const golden = JSON.parse(readFileSync(join(ASSETS, "golden.json"), "utf8")) as Golden[];

/** Scripts and oddities that Node's and Rust's Unicode tables have both known for years. */
const character = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzABCXYZ0123456789") },
  { weight: 3, arbitrary: fc.constantFrom(..." \t\n\r\u000b\u0085\u00a0\u2003\u2028\u3000\u2581") },
  { weight: 2, arbitrary: fc.constantFrom(..."ÀÉßıİſŒΣσςΩЖяǅﬁ①½™ﷺ") },
  { weight: 3, arbitrary: fc.constantFrom(..."あいうかがきさアイウカガヴー々日本語東京会議学生私") },
  { weight: 2, arbitrary: fc.constantFrom(..."ﾊﾞﾝｶｸＦＵＬＬ１２３㌔㍿㈱ﾟ゙゚") },
  { weight: 1, arbitrary: fc.constantFrom(..."\u0301\u0308\u200d\ufeff\u0000😀👩🇯🇵—“”…") },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 0x2fff }).map((code) => String.fromCharCode(code)) },
  { weight: 1, arbitrary: fc.constantFrom("the ", " and", "ing ", "です", "ます", "した", "について") },
);
// Letters of the newest Unicode versions may be unassigned on one side.
const text = fc.array(character, { maxLength: 60 }).map((parts) => parts.join("").replace(/\p{Cn}/gu, "?"));

function suite(name: string, open: (path: string) => StaticTable): void {
  const isSkipped = name === "native" && nativeAbsence !== "";
  describe.skipIf(isSkipped)(`${name} token table${isSkipped ? nativeAbsence : ""}`, () => {
    it("gives the golden ids, and vectors within two millionths", () => {
      const table = open(TABLE);
      expect(table.dimension).toBe(384);
      expect(golden).toHaveLength(20);
      for (const { text, ids, vector } of golden) {
        expect([...table.encode(text)], text).toEqual(ids);
        const found = table.embed([text]);
        const worst = Math.max(...vector.map((x, i) => Math.abs(x - (found[i] as number))));
        expect(worst, text).toBeLessThanOrEqual(2e-6);
      }
    });

    it("embeds each text by itself, and no text as no row", () => {
      const table = open(TABLE);
      const rows = table.embed(["one", "", "two"]);
      expect(rows.slice(0, 384)).toEqual(table.embed(["one"]));
      expect(rows.slice(384, 768).every((x) => x === 0)).toBe(true);
      expect(rows.slice(768)).toEqual(table.embed(["two"]));
      expect(table.embed([])).toHaveLength(0);
    });

    it("has a centre of unit length", () => {
      const squares = open(TABLE).centre.reduce((sum, x) => sum + x * x, 0);
      expect(squares).toBeCloseTo(1, 5);
    });

    it("refuses a missing, a cut and a foreign file", () => {
      const folder = mkdtempSync(join(tmpdir(), "table-"));
      try {
        const whole = readFileSync(TABLE);
        const cut = join(folder, "cut.ste");
        writeFileSync(cut, whole.subarray(0, whole.length - 1));
        const foreign = join(folder, "foreign.ste");
        writeFileSync(foreign, "not a table at all, but more than thirty-two bytes");
        for (const path of [join(folder, "none.ste"), cut, foreign]) {
          expect(() => open(path)).toThrow(expect.objectContaining({ code: "embedding_failed" }));
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });
}

suite("native", (path) => theAddon().core.openStaticTable(path));
suite("twin", openTwinStaticTable);

describe.skipIf(nativeAbsence !== "")(`native and twin token tables${nativeAbsence}`, () => {
  it("agree on ids and on every bit of a vector", () => {
    const native = theAddon().core.openStaticTable(TABLE);
    const twin = openTwinStaticTable(TABLE);
    fc.assert(
      fc.property(text, (sample) => {
        expect([...native.encode(sample)]).toEqual([...twin.encode(sample)]);
        const bits = (table: StaticTable) => [...new Uint32Array(table.embed([sample]).buffer)];
        expect(bits(native)).toEqual(bits(twin));
      }),
      { numRuns: 1000 },
    );
  });

  it("agree on lone surrogates", () => {
    const native = theAddon().core.openStaticTable(TABLE);
    const twin = openTwinStaticTable(TABLE);
    for (const sample of ["a\ud800b", "\udc00", "x \ud83d"]) {
      expect([...native.encode(sample)]).toEqual([...twin.encode(sample)]);
    }
  });
});
