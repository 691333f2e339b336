import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseInstant, storageStamp, storageTimeMs } from "../../../ts/domain/time.js";

describe("parseInstant", () => {
  // Made by running the system that the stamps come from.
  const readable: [string, string][] = [
    ["2026-01-02", "2026-01-02T00:00:00Z"],
    ["20260102", "2026-01-02T00:00:00Z"],
    ["2026-W01-5", "2026-01-02T00:00:00Z"],
    ["2026W015", "2026-01-02T00:00:00Z"],
    ["2026-W01", "2025-12-29T00:00:00Z"],
    ["2026-01-02X03:04", "2026-01-02T03:04:00Z"],
    ["2026-01-02 03:04:05", "2026-01-02T03:04:05Z"],
    ["2026-01-02T03", "2026-01-02T03:00:00Z"],
    ["20260102T030405", "2026-01-02T03:04:05Z"],
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"],
    ["2026-01-02T03:04:05,5", "2026-01-02T03:04:05.500Z"],
    ["2026-01-02T03:04:05.25", "2026-01-02T03:04:05.250Z"],
    ["2026-01-02T03:04:05 +09:00", "2026-01-01T18:04:05Z"],
    ["2026-01-02T03:04:05+0900", "2026-01-01T18:04:05Z"],
    ["2026-01-02T03:04:05-09", "2026-01-02T12:04:05Z"],
    ["2024-02-29", "2024-02-29T00:00:00Z"],
    ["0050-06-07", "0050-06-07T00:00:00Z"],
    ["2020-W53-7", "2021-01-03T00:00:00Z"],
    ["2026-01-02🎌03:04", "2026-01-02T03:04:00Z"],
  ];
  it.each(readable)("reads %s", (stamp, instant) => {
    expect(parseInstant(stamp)).toBe(Date.parse(instant));
  });

  it("keeps six digits of a fraction and drops the rest", () => {
    const base = Date.parse("2026-01-02T03:04:05Z");
    expect(parseInstant("2026-01-02T03:04:05.123456789Z")).toBeCloseTo(base + 123.456, 3);
  });

  const unreadable = [
    ...["2026-1-2", "1767323045", "2026-01-02T03:04:05z", "2026-01-02T24:00:00", "2026-01-02T03:04:60"],
    ...[" 2026-01-02", "２０２６-01-02", "0001-01-01T00:00:00+09:00", "9999-12-31T23:59:59-01:00", ""],
    ...["2026-13-01", "2026-02-29", "2026-00-10", "2026-01-00", "2026-W54-1", "2026-W00-1", "2026-W01-8"],
    ...[
      "2021-W53-1",
      "0000-01-01",
      "2026-01-02T",
      "2026-01-02T3:04",
      "2026-01-02T03:60",
      "2026-01-02T03:04+24:00",
    ],
    ...["yesterday", "2026-01-02T03:04:05+09:00Z", "2026-01-02T03:04:05.", "-2026-01-02", "2026-01", "2026"],
  ];
  it.each(unreadable)("finds no instant in '%s'", (stamp) => {
    expect(parseInstant(stamp)).toBeNull();
  });

  it("finds no instant in nothing", () => {
    expect(parseInstant(null)).toBeNull();
    expect(parseInstant(undefined)).toBeNull();
  });

  it("reads every instant that JavaScript writes", () => {
    const range = { min: new Date("0001-01-02T00:00:00Z"), max: new Date("9999-12-30T00:00:00Z") };
    fc.assert(
      fc.property(fc.date({ ...range, noInvalidDate: true }), (date) => {
        expect(parseInstant(date.toISOString())).toBe(date.getTime());
      }),
    );
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void parseInstant(text)));
  });
});

describe("storage stamps", () => {
  it("are SQLite's own form, and read back to the second", () => {
    const at = Date.parse("2026-11-30T01:02:03.999Z");
    expect(storageStamp(at)).toBe("2026-11-30 01:02:03");
    expect(storageTimeMs(storageStamp(at))).toBe(Date.parse("2026-11-30T01:02:03Z"));
  });

  it("count as oldest when they are damaged", () => {
    expect(storageTimeMs("junk")).toBe(Number.NEGATIVE_INFINITY);
  });
});
