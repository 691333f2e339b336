import { describe, expect, it } from "vitest";
import { dateInFileName, leadingDate, stampOf, wholeMonth } from "../../../ts/intake/dates.js";

describe("leadingDate", () => {
  it.each([
    ["2026-06-03 Title", "2026-06-03T00:00:00Z", "Title"],
    ["2026/6/3: Title", "2026-06-03T00:00:00Z", "Title"],
    ["2026年6月3日（水） 題", "2026-06-03T00:00:00Z", "題"],
    ["June 3, 2026 - Title", "2026-06-03T00:00:00Z", "Title"],
    ["3rd of June", undefined, ""],
    ["3 June 2026 Title", "2026-06-03T00:00:00Z", "Title"],
    ["**2026-06-03**: Title", "2026-06-03T00:00:00Z", "Title"],
    ["**2026-06-03 Title**", "2026-06-03T00:00:00Z", "**Title**"],
    ["[2026-06-03] Title", "2026-06-03T00:00:00Z", "Title"],
    ["2026-06-03 14:30 Title", "2026-06-03T14:30:00Z", "Title"],
    ["2026-06-03T14:30:05+09:00 Title", "2026-06-03T05:30:05Z", "Title"],
    ["2026-02-30 no such day", undefined, ""],
    ["2026-06-031", undefined, ""],
    ["20 eggs", undefined, ""],
  ])("reads %s", (text, timestamp, rest) => {
    const found = leadingDate(text);
    expect(found?.timestamp).toBe(timestamp);
    if (timestamp !== undefined) expect(found?.rest).toBe(rest);
  });
});

it("reads months and dates in file names", () => {
  expect(wholeMonth("June 2026")).toBe("2026-06-01T00:00:00Z");
  expect(wholeMonth("2026年6月")).toBe("2026-06-01T00:00:00Z");
  expect(wholeMonth("June plans")).toBeUndefined();
  expect(dateInFileName("notes_20260603.txt")).toBe("2026-06-03T00:00:00Z");
  expect(dateInFileName("2026-06.md")).toBe("2026-06-01T00:00:00Z");
  expect(dateInFileName("1234567890123.md")).toBeUndefined();
});

it("reads SQLite stamps as UTC and epoch numbers", () => {
  expect(stampOf("2026-06-03 10:00:00")).toBe("2026-06-03T10:00:00Z");
  expect(stampOf(1780000000)).toBe(stampOf(1780000000000));
  expect(stampOf("")).toBeUndefined();
});
