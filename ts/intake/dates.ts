// Finds dates as people write them in notes: at the start of a heading or entry, in front matter, in a file
// name. Dates without a zone are taken as UTC, since a file does not say where it was written.

/** A date that was found, and what follows it. */
export interface FoundDate {
  /** ISO 8601 in UTC. */
  timestamp: string;
  /** The text without the date and its separator; may be empty. */
  rest: string;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?";
const NUMERIC = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/;
const STAMP = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?(?![\d:])/;
const KANJI = /^(\d{4})年\s*(\d{1,2})月\s*(\d{1,2})日/;
const MONTH_FIRST = new RegExp(`^${MONTH}\\s+(\\d{1,2})(?:st|nd|rd|th)?,?\\s+(\\d{4})(?!\\d)`, "i");
const DAY_FIRST = new RegExp(`^(\\d{1,2})\\.?\\s+${MONTH}\\s+(\\d{4})(?!\\d)`, "i");
const MONTH_ONLY = [
  new RegExp(`^${MONTH}\\s+(\\d{4})$`, "i"),
  /^(\d{4})[-/.](\d{1,2})$/,
  /^(\d{4})年\s*(\d{1,2})月$/,
];
/** What may follow a date before the text goes on: a weekday in brackets, a colon, a dash. */
const AFTER =
  /^\s*(?:[([（](?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?|[月火水木金土日](?:曜日?)?)[)\]）])?\s*(?:[-–—:：|、,.]\s*)?/i;

function iso(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const real =
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return real && year >= 1900 ? date.toISOString().replace(".000Z", "Z") : undefined;
}

function monthNumber(name: string): number {
  return MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;
}

/** The date that `text` begins with (brackets and bold marks around it are fine), or undefined. */
export function leadingDate(text: string): FoundDate | undefined {
  const opened = /^\s*(\*\*|__|[[(（【])?\s*/.exec(text);
  const opener = opened?.[1] ?? "";
  const body = text.slice(opened?.[0].length ?? 0);
  const found = dateAtStart(body);
  if (found === undefined) return undefined;
  let rest = body.slice(found.length);
  const closer = { "**": "**", __: "__", "[": "]", "(": ")", "（": "）", "【": "】" }[opener];
  if (closer !== undefined) {
    const at = rest.indexOf(closer);
    // "**2026-06-03 Title**": the marks belong to more than the date, so the rest keeps them.
    rest =
      at >= 0 && rest.slice(0, at).replace(AFTER, "") === ""
        ? rest.slice(at + closer.length)
        : `${opener}${rest.trimStart()}`;
  }
  return { timestamp: found.timestamp, rest: rest.replace(AFTER, "").trim() };
}

function dateAtStart(text: string): { timestamp: string; length: number } | undefined {
  const stamp = STAMP.exec(text);
  if (stamp) {
    const zone = stamp[4] ?? "Z";
    const time = new Date(`${stamp[1]}T${stamp[2]}:${stamp[3] ?? "00"}${zone}`);
    if (!Number.isNaN(time.getTime())) {
      return { timestamp: time.toISOString().replace(".000Z", "Z"), length: stamp[0].length };
    }
  }
  const numeric = NUMERIC.exec(text);
  if (numeric) return dated(numeric[0], iso(Number(numeric[1]), Number(numeric[3]), Number(numeric[4])));
  const kanji = KANJI.exec(text);
  if (kanji) return dated(kanji[0], iso(Number(kanji[1]), Number(kanji[2]), Number(kanji[3])));
  const first = MONTH_FIRST.exec(text);
  if (first) return dated(first[0], iso(Number(first[3]), monthNumber(first[1] ?? ""), Number(first[2])));
  const second = DAY_FIRST.exec(text);
  if (second)
    return dated(second[0], iso(Number(second[3]), monthNumber(second[2] ?? ""), Number(second[1])));
  return undefined;
}

function dated(matched: string, timestamp: string | undefined) {
  return timestamp === undefined ? undefined : { timestamp, length: matched.length };
}

/** The first day of a month for texts that are nothing but a month ("June 2026", "2026年6月"). */
export function wholeMonth(text: string): string | undefined {
  const plain = text.trim();
  const named = MONTH_ONLY[0]?.exec(plain);
  if (named) return iso(Number(named[2]), monthNumber(named[1] ?? ""), 1);
  for (const pattern of MONTH_ONLY.slice(1)) {
    const numbers = pattern.exec(plain);
    if (numbers) return iso(Number(numbers[1]), Number(numbers[2]), 1);
  }
  return undefined;
}

/** A date in a file name: `2026-06-03-standup.md`, `notes_20260603.txt`, or a month `2026-06.md`. */
export function dateInFileName(name: string): string | undefined {
  const day = /(?<!\d)(\d{4})([-_.]?)(\d{2})\2(\d{2})(?!\d)/.exec(name);
  if (day) {
    const found = iso(Number(day[1]), Number(day[3]), Number(day[4]));
    if (found !== undefined) return found;
  }
  const month = /(?<!\d)(\d{4})[-_.](\d{2})(?!\d)/.exec(name);
  return month ? iso(Number(month[1]), Number(month[2]), 1) : undefined;
}

/** An ISO stamp for a JSON field: a text that the platform can read as a date, or epoch seconds or ms. */
export function stampOf(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isFinite(value)) {
    const time = new Date(value < 1e11 ? value * 1000 : value);
    return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
  }
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const text = value.trim();
  // SQLite's CURRENT_TIMESTAMP has no zone and means UTC; Date would take it as local time.
  const sqlite = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})$/.exec(text);
  return sqlite ? `${sqlite[1]}T${sqlite[2]}Z` : text;
}
