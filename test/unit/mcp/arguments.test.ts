import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type JsonSchema, parseArguments } from "../../../ts/mcp/arguments.js";

const input = z.object({
  text: z.string().max(5).optional(),
  count: z.int().min(0).max(10).default(3),
  ratio: z.number().min(0).optional(),
  flag: z.boolean().optional(),
  mode: z.enum(["a", "b"]).optional(),
  list: z.array(z.string()).min(1).max(2).optional(),
  bag: z.looseObject({ inner: z.string() }).optional(),
});
const schema = z.toJSONSchema(input, { io: "input", target: "draft-7" }) as JsonSchema;
const parse = (raw: unknown) => parseArguments(input, schema, raw);

describe("parseArguments", () => {
  it.each([
    [{ count: "7" }, { count: 7 }],
    [{ count: " 7 " }, { count: 7 }],
    [{ count: 7.0 }, { count: 7 }],
    [{ ratio: "0.5" }, { ratio: 0.5 }],
    [{ flag: "False" }, { flag: false }],
    [{ flag: " true " }, { flag: true }],
    [{ text: 42 }, { text: "42" }],
    [{ list: '["a"]' }, { list: ["a"] }],
    [{ list: [1, "b"] }, { list: ["1", "b"] }],
    [{ bag: '{"inner": 5, "more": 1}' }, { bag: { inner: "5", more: 1 } }],
    [{ text: null, count: null, bag: null }, {}],
    [{ unknown: 1 }, {}],
    ['{"text": "a"}', { text: "a" }],
    [undefined, {}],
    [null, {}],
  ])("takes %j", (raw, expected) => {
    expect(parse(raw)).toEqual({ count: 3, ...expected });
  });

  it.each([
    [{ text: "sixsix" }, "text must be a text of at most 5 characters", "text"],
    [{ text: true }, "text must be a text of at most 5 characters", "text"],
    [{ count: "x" }, "count must be a whole number from 0 to 10", "count"],
    [{ count: "" }, "count must be a whole number from 0 to 10", "count"],
    [{ count: 1.5 }, "count must be a whole number from 0 to 10", "count"],
    [{ count: Number.NaN }, "count must be a whole number from 0 to 10", "count"],
    [{ count: 11 }, "count must be a whole number from 0 to 10", "count"],
    [{ count: true }, "count must be a whole number from 0 to 10", "count"],
    [{ ratio: -1 }, "ratio must be a number of at least 0", "ratio"],
    [{ flag: "1" }, "flag must be true or false", "flag"],
    [{ mode: "c" }, "mode must be one of a, b", "mode"],
    [{ list: [] }, "list must be a list of 1 to 2 texts", "list"],
    [{ list: "a" }, "list must be a list of 1 to 2 texts", "list"],
    [{ list: ["a", {}] }, "list[1] must be a text", "list[1]"],
    [{ list: ["a", null] }, "list[1] must be a text", "list[1]"],
    [{ bag: {} }, "bag.inner is required and must be a text", "bag.inner"],
    [{ bag: { inner: null } }, "bag.inner is required and must be a text", "bag.inner"],
    [{ bag: "{broken" }, "bag must be an object", "bag"],
    [{ bag: [] }, "bag must be an object", "bag"],
    ["text", "arguments must be an object", "arguments"],
    [[], "arguments must be an object", "arguments"],
    [5, "arguments must be an object", "arguments"],
  ])("refuses %j with field and rule", (raw, message, field) => {
    expect(() => parse(raw)).toThrow(expect.objectContaining({ code: "invalid_argument", message, field }));
  });

  it("treats names of JavaScript's own as unknown arguments", () => {
    const raw = JSON.parse('{"__proto__": {"text": "x"}, "constructor": 1, "toString": 2}') as unknown;
    expect(parse(raw)).toEqual({ count: 3 });
    expect(({} as Record<string, unknown>)["text"]).toBeUndefined();
  });
});
