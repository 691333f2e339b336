import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { twinCore } from "../../../../ts/native/twin/core.js";

const assets = fileURLToPath(new URL("../../../../assets/static-multilingual/", import.meta.url));
const path = join(assets, "static.ste");
const golden = JSON.parse(readFileSync(join(assets, "golden.json"), "utf8")) as {
  text: string;
  ids: number[];
  vector: number[];
}[];
const folder = mkdtempSync(join(tmpdir(), "cpersona-table-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface TinyTable {
  bits: 4 | 8;
  pieces: [piece: string, score: number][];
  scales: number[];
  rows: number[];
  unknownScore: number;
}

/** A two-dimensional table in the file format, written out by hand. */
function tinyFile({ bits, pieces, scales, rows, unknownScore }: TinyTable): Buffer {
  const texts = pieces.map(([piece]) => Buffer.from(piece));
  const blob = Buffer.concat(texts);
  const offsets = [0];
  for (const text of texts) offsets.push((offsets.at(-1) ?? 0) + text.length);
  const header = Buffer.alloc(32);
  header.write("STE1");
  [1, pieces.length, 2, 9].forEach((value, i) => {
    header.writeUInt32LE(value, 4 + 4 * i);
  });
  header.writeFloatLE(unknownScore, 20);
  header.writeUInt32LE(blob.length, 24);
  header.writeUInt32LE(bits, 28);
  const floats = (values: number[]) => Buffer.from(Float32Array.from(values).buffer);
  return Buffer.concat([
    header,
    floats(pieces.map(([, score]) => score)),
    Buffer.from(Uint32Array.from(offsets).buffer),
    floats(scales),
    floats([0, 1]),
    Buffer.from(rows),
    blob,
  ]);
}

const tiny: TinyTable = {
  bits: 4,
  pieces: [
    ["a", -3],
    ["ab", -4],
    ["b", -1],
    ["\u2581", -1],
    ["\u2581a", -2],
  ],
  scales: [1, 1, 0.5, 1, 1],
  // low nibble first: (1, 0) (0, 1) (2, 4) (0, 0) (-7, 7)
  rows: [0x89, 0x98, 0xca, 0x88, 0xf1],
  unknownScore: -10,
};

let files = 0;
function openFile(bytes: Buffer) {
  const file = join(folder, `${files++}.ste`);
  writeFileSync(file, bytes);
  return twinCore.openStaticTable(file);
}

describe("the twin's static table", () => {
  const table = twinCore.openStaticTable(path);

  it.each(golden)("gives the golden pieces and vector of $text", ({ text, ids, vector }) => {
    expect([...table.encode(text)]).toEqual(ids);
    const made = table.embed([text]);
    expect(made).toHaveLength(vector.length);
    const furthest = Math.max(...vector.map((value, j) => Math.abs(value - (made[j] ?? Number.NaN))));
    expect(furthest).toBeLessThanOrEqual(2e-6);
  });

  it("embeds several texts row by row, a text without pieces as zeros", () => {
    const made = table.embed(["alpha", "", "\u0e01"]);
    expect(made).toHaveLength(3 * table.dimension);
    expect(made.subarray(0, table.dimension)).toEqual(table.embed(["alpha"]));
    expect(made.subarray(table.dimension, 2 * table.dimension).every((value) => value === 0)).toBe(true);
  });

  it("has a centre of unit length", () => {
    expect(table.centre).toHaveLength(table.dimension);
    const squares = table.centre.reduce((sum, value) => sum + value * value, 0);
    expect(squares).toBeCloseTo(1, 5);
  });

  it("ignores case, width and white space, and skips lone surrogates", () => {
    expect(table.encode(" \t\u3000ＨＥＬＬＯ\n World ")).toEqual(table.encode("hello world"));
    expect(table.encode("a\ud800b").length).toBeGreaterThan(0);
  });

  it("takes the better of two splits, and the first of two equal ones", () => {
    const small = openFile(tinyFile(tiny));
    // "▁ab": ▁a + b = -3 beats ▁ + ab = -5
    expect([...small.encode("ab")]).toEqual([4, 2]);
    // "▁aab": ▁a + ab = -6, ▁a + a + b = -6: the split that starts earlier comes first and stays
    expect([...small.encode("aab")]).toEqual([4, 1]);
    expect([...small.encode("xb")]).toEqual([3, 2]);
    // (-7, 7) + 0.5 × (2, 4) = (-6, 9)
    const norm = Math.hypot(6, 9);
    expect([...small.embed(["ab"])]).toEqual([Math.fround(-6 / norm), Math.fround(9 / norm)]);
  });

  it("reads signed bytes from an 8-bit table", () => {
    const rows = [0, 0, 0, 0, 0x80, 0x7f, 0, 0, 0, 0];
    const small = openFile(tinyFile({ ...tiny, bits: 8, rows }));
    const norm = Math.hypot(64, 63.5);
    expect([...small.embed(["xb"])]).toEqual([Math.fround(-64 / norm), Math.fround(63.5 / norm)]);
  });

  it("refuses absent and damaged files without naming them", () => {
    const good = tinyFile(tiny);
    const patched = (at: number, value: number) => {
      const copy = Buffer.from(good);
      copy.writeUInt32LE(value, at);
      return copy;
    };
    const failed = (message: RegExp) =>
      expect.objectContaining({ code: "embedding_failed", message: expect.stringMatching(message) });
    expect(() => twinCore.openStaticTable(join(folder, "absent"))).toThrow(failed(/cannot be read/));
    expect(() => openFile(Buffer.alloc(0))).toThrow(failed(/too short/));
    expect(() => openFile(patched(0, 0x31323334))).toThrow(failed(/not a token table/));
    expect(() => openFile(patched(4, 2))).toThrow(failed(/version/));
    expect(() => openFile(patched(8, 0xffff_ffff))).toThrow(failed(/wrong length/));
    expect(() => openFile(patched(12, 3))).toThrow(failed(/width/));
    expect(() => openFile(patched(28, 5))).toThrow(failed(/row format/));
    expect(() => openFile(patched(32 + 4 * 5, 1))).toThrow(failed(/offsets/));
    expect(() => openFile(good.subarray(0, good.length - 1))).toThrow(failed(/wrong length/));
    expect(() => openFile(Buffer.concat([good, Buffer.alloc(1)]))).toThrow(failed(/wrong length/));
  });
});
