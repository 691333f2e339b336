// Instants: stamps are kept as the caller wrote them and compared by the moment they name.

const DATE = /^(?:(\d{4})-(\d{2})-(\d{2})|(\d{4})(\d{2})(\d{2})|(\d{4})-?W(\d{2})(?:-?([1-7]))?)/;
const TIME =
  /^(\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)?(?: ?([+-])(\d{2})(?::?(\d{2})(?::?(\d{2}))?)?)?$/;

/**
 * Milliseconds since the epoch of an ISO 8601 stamp, or null when it names no instant.
 * Any single character may stand between date and time; no offset means UTC.
 */
export function parseInstant(stamp: string | null | undefined): number | null {
  if (stamp === undefined || stamp === null) return null;
  const text = stamp.replaceAll("Z", "+00:00");
  const date = DATE.exec(text);
  if (date === null) return null;
  const day = dayOf(date);
  if (day === null) return null;
  const rest = Array.from(text.slice(date[0].length));
  if (rest.length === 0) return inRange(day);
  const time = TIME.exec(rest.slice(1).join(""));
  if (time === null) return null;
  const [
    ,
    hour,
    minute = "0",
    second = "0",
    fraction = "",
    sign,
    offHour = "0",
    offMinute = "0",
    offSecond = "0",
  ] = time;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  if (Number(offHour) > 23 || Number(offMinute) > 59 || Number(offSecond) > 59) return null;
  const clock = (Number(hour) * 3600 + Number(minute) * 60 + Number(second)) * 1000 + milliseconds(fraction);
  const offset = (Number(offHour) * 3600 + Number(offMinute) * 60 + Number(offSecond)) * 1000;
  return inRange(day + clock - (sign === "-" ? -offset : offset));
}

const FIRST_INSTANT = Date.parse("0001-01-01T00:00:00Z");
const LAST_INSTANT = Date.parse("9999-12-31T23:59:59.999Z");

function inRange(instant: number): number | null {
  return instant >= FIRST_INSTANT && instant <= LAST_INSTANT ? instant : null;
}

/** Fractions count to the microsecond, later digits are dropped. */
function milliseconds(fraction: string): number {
  return fraction === "" ? 0 : Number(fraction.slice(0, 6).padEnd(6, "0")) / 1000;
}

function dayOf(date: RegExpExecArray): number | null {
  if (date[7] !== undefined) return weekDay(Number(date[7]), Number(date[8]), Number(date[9] ?? "1"));
  const year = Number(date[1] ?? date[4]);
  const month = Number(date[2] ?? date[5]);
  const dayOfMonth = Number(date[3] ?? date[6]);
  const at = utcDay(year, month, dayOfMonth);
  const back = new Date(at);
  const real = year >= 1 && back.getUTCMonth() === month - 1 && back.getUTCDate() === dayOfMonth;
  return real ? at : null;
}

/** Date.UTC takes years below 100 for the 1900s, so the year is set by itself. */
function utcDay(year: number, month: number, dayOfMonth: number): number {
  return new Date(Date.UTC(2000, month - 1, dayOfMonth)).setUTCFullYear(year, month - 1, dayOfMonth);
}

const DAY_MS = 86_400_000;

/** ISO week date: week 1 holds the year's first Thursday. */
function weekDay(year: number, week: number, day: number): number | null {
  const fourth = utcDay(year, 1, 4);
  const weekday = new Date(fourth).getUTCDay() || 7;
  const monday = fourth - (weekday - 1) * DAY_MS;
  const at = monday + ((week - 1) * 7 + day - 1) * DAY_MS;
  const thursday = new Date(monday + ((week - 1) * 7 + 3) * DAY_MS);
  return week >= 1 && year >= 1 && thursday.getUTCFullYear() === year ? at : null;
}

/** The storage stamp of SQLite's `datetime()`: `2026-11-30 01:02:03`, UTC. */
export function storageStamp(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 19).replace("T", " ");
}

/** Milliseconds since the epoch of a storage stamp; -Infinity when it is unreadable, so it counts as oldest. */
export function storageTimeMs(stamp: string): number {
  return parseInstant(stamp) ?? Number.NEGATIVE_INFINITY;
}
