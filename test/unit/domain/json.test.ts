import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  depthDefect,
  JsonError,
  MAX_JSON_DEPTH,
  parseJson,
  parseJsonBytes,
} from "../../../ts/domain/json.js";

const FAULT = `is nested more than ${MAX_JSON_DEPTH} levels deep`;
const RULE = `must not be nested more than ${MAX_JSON_DEPTH} levels deep`;

function lists(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

function faultOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof JsonError) return error.fault;
    throw error;
  }
  return "";
}

describe("JSON from outside", () => {
  it("is taken up to the bound and refused above it, in lists and in objects", () => {
    expect(faultOf(() => parseJson(lists(MAX_JSON_DEPTH)))).toBe("");
    expect(faultOf(() => parseJson(lists(MAX_JSON_DEPTH + 1)))).toBe(FAULT);
    const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    expect(faultOf(() => parseJson(objects(MAX_JSON_DEPTH)))).toBe("");
    expect(faultOf(() => parseJson(objects(MAX_JSON_DEPTH + 1)))).toBe(FAULT);
  });

  it("does not count what is beside each other, or stands in strings", () => {
    const wide = JSON.stringify(Array.from({ length: 1000 }, () => [{}]));
    const quoted = JSON.stringify({ a: `${"[{".repeat(500)}\\"`, b: '"[[' });
    expect(parseJson(wide)).toHaveLength(1000);
    expect(parseJson(quoted)).toMatchObject({ b: '"[[' });
  });

  it.each([100_000, 5_000_000])("survives %d levels, closed or not", (depth) => {
    expect(faultOf(() => parseJson("[".repeat(depth)))).toBe(FAULT);
    expect(faultOf(() => parseJson(lists(depth)))).toBe(FAULT);
  });

  it("must be JSON, and UTF-8", () => {
    for (const text of ["", "{", "[1,]", '"', '{"a":"\\"', "nul"])
      expect(faultOf(() => parseJson(text))).toBe("is not JSON");
    expect(faultOf(() => parseJsonBytes(Buffer.from([0x22, 0xff, 0x22])))).toBe("is not UTF-8");
    expect(parseJsonBytes(Buffer.from('\ufeff{"é":1}'))).toEqual({ é: 1 });
  });

  it("reads whatever JSON.parse reads, and both ways of measuring agree", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 9 }), fc.integer({ min: 1, max: 10 }), (value, most) => {
        const text = JSON.stringify(value);
        const rule = depthDefect(JSON.parse(text), most);
        if (rule === null) expect(parseJson(text, most)).toEqual(JSON.parse(text));
        else expect(faultOf(() => parseJson(text, most))).toBe(`is nested more than ${most} levels deep`);
      }),
    );
  });
});

describe("the depth of a value", () => {
  it("is measured without recursion, and a circle is too deep", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 200_000; i++) deep = i % 2 === 0 ? [deep] : { deep };
    expect(depthDefect(deep)).toBe(RULE);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(depthDefect(circle)).toBe(RULE);
    expect(depthDefect(new Uint8Array(8))).toBeNull();
  });
});
