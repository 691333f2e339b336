import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatRef, parseRef, recordKey, recordOfKey } from "../../../ts/domain/record.js";
import { sourceFilter } from "../../../ts/domain/scope.js";

const kind = fc.constantFrom("mem" as const, "ep" as const);
const id = fc.integer({ min: 1, max: 2 ** 51 });

describe("refs and keys", () => {
  it("read back to the record they name", () => {
    fc.assert(
      fc.property(kind, id, (kind, id) => {
        expect(parseRef(formatRef({ kind, id }))).toEqual({ kind, id });
        expect(recordOfKey(recordKey(kind, id))).toEqual({ kind, id });
      }),
    );
  });

  it.each(["", "mem", "mem:", "mem:0", "mem:01", "mem:-1", "mem:+1", "mem:1.0", "mem: 1", "mem:1 ", "MEM:1"])(
    "do not read '%s'",
    (ref) => expect(parseRef(ref)).toBeNull(),
  );
  it.each(["ep:1e3", "epi:1", "mem:١", "mem:9007199254740993", "mem:1\n", "mem:99999999999999999999"])(
    "do not read '%s'",
    (ref) => expect(parseRef(ref)).toBeNull(),
  );
});

describe("sourceFilter", () => {
  it.each([
    ["discord:1", true],
    ["名前", true],
    ["discord:", false],
    ["a_", false],
    ["a ", false],
    ["🎌", false],
  ])("takes '%s' as exact: %s", (sourceId, exact) => {
    expect(sourceFilter(sourceId)).toEqual({ id: sourceId, exact });
  });

  it("restricts nothing when nothing is asked", () => {
    for (const nothing of ["", null, undefined]) expect(sourceFilter(nothing)).toBeNull();
  });
});
