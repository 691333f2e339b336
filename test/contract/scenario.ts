// Plays scenarios: lists of tool calls as data, with what must come back.
// `expect` is a partial match: an object matches when each named key matches, a list element by element. Keys
// that start with `$` are matchers. `${name}` stands for a value that an earlier step kept.

import { readFileSync } from "node:fs";
import type { Answer } from "../support/client.js";

interface Step {
  readonly call: string;
  readonly with: unknown;
  readonly expect?: unknown;
  /** name -> path into the answer */
  readonly keep?: Readonly<Record<string, string>>;
  /** plays the step so often, with `${i}` counting from 0 */
  readonly times?: number;
}

export interface Scenario {
  readonly title: string;
  /** id in requirements.ts */
  readonly verifies: string;
  readonly embedder: "stub" | "none" | "static";
  readonly settings?: Readonly<Record<string, string>>;
  /** does not start a server process of its own: others of its file show that the wire carries the same */
  readonly inProcessOnly?: boolean;
  readonly steps: readonly Step[];
}

export function readScenarios(file: string): Scenario[] {
  return JSON.parse(readFileSync(new URL(`scenarios/${file}`, import.meta.url), "utf8")) as Scenario[];
}

/** Throws with the first mismatch. */
export async function play(
  scenario: Scenario,
  call: (tool: string, args: object) => Promise<Answer>,
): Promise<void> {
  const kept: Record<string, unknown> = {};
  for (const [number, step] of scenario.steps.entries()) {
    for (let i = 0; i < (step.times ?? 1); i++) {
      const values = { ...kept, i };
      const answer = await call(step.call, fill(step.with, values) as object);
      for (const [name, path] of Object.entries(step.keep ?? {})) kept[name] = dig(answer, path);
      const mismatch = match(fill(step.expect ?? {}, values), answer, `step ${number + 1} ${step.call}`);
      if (mismatch !== null) throw new Error(mismatch);
    }
  }
}

function fill(value: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === "string") {
    const whole = /^\$\{(\w+)\}$/.exec(value)?.[1];
    if (whole !== undefined && whole in values) return values[whole];
    return value.replace(/\$\{(\w+)\}/g, (text, name: string) => (name in values ? `${values[name]}` : text));
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, values));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, values)]));
}

function dig(value: unknown, path: string): unknown {
  return path.split(".").reduce((at, key) => (at as Record<string, unknown> | undefined)?.[key], value);
}

type Mismatch = string | null;

/** What differs, or null. */
function match(wanted: unknown, got: unknown, at: string): Mismatch {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got) || got.length !== wanted.length)
      return `${at}: wanted ${wanted.length} items, got ${show(got)}`;
    return first(wanted, (item, i) => match(item, got[i], `${at}[${i}]`));
  }
  if (typeof wanted !== "object" || wanted === null)
    return Object.is(wanted, got) ? null : `${at}: wanted ${show(wanted)}, got ${show(got)}`;
  const entries = Object.entries(wanted);
  if (entries.some(([key]) => key.startsWith("$")))
    return first(entries, ([name, value]) => applyMatcher(name, value, got, at));
  if (typeof got !== "object" || got === null || Array.isArray(got))
    return `${at}: wanted an object, got ${show(got)}`;
  return first(entries, ([key, value]) => {
    const item = (got as Record<string, unknown>)[key];
    if (isAbsence(value)) return key in got ? `${at}.${key}: wanted absent, got ${show(item)}` : null;
    if (!(key in got)) return `${at}.${key}: missing among ${Object.keys(got).join(", ")}`;
    return match(value, item, `${at}.${key}`);
  });
}

function isAbsence(value: unknown): boolean {
  return typeof value === "object" && value !== null && "$absent" in value;
}

function first<T>(items: readonly T[], check: (item: T, i: number) => Mismatch): Mismatch {
  for (const [i, item] of items.entries()) {
    const mismatch = check(item, i);
    if (mismatch !== null) return mismatch;
  }
  return null;
}

type Matcher = (wanted: unknown, got: unknown, at: string) => Mismatch;

const holds =
  (test: (wanted: never, got: never) => boolean): Matcher =>
  (wanted, got, at) =>
    test(wanted as never, got as never) ? null : `${at}: ${show(got)} against ${show(wanted)}`;

const onList =
  (test: (wanted: unknown, got: readonly unknown[], at: string) => Mismatch): Matcher =>
  (wanted, got, at) =>
    Array.isArray(got) ? test(wanted, got, at) : `${at}: wanted a list, got ${show(got)}`;

const MATCHERS: Readonly<Record<string, Matcher>> = {
  $any: () => null,
  $gte: holds((wanted: number, got: unknown) => typeof got === "number" && got >= wanted),
  $lte: holds((wanted: number, got: unknown) => typeof got === "number" && got <= wanted),
  $re: holds((wanted: string, got: unknown) => typeof got === "string" && new RegExp(wanted, "u").test(got)),
  $len: holds((wanted: number, got: { length?: number }) => lengthOf(got) === wanted),
  $lenlte: holds((wanted: number, got: unknown) => lengthOf(got) <= wanted),
  $in: holds((wanted: unknown[], got: unknown) => wanted.includes(got)),
  $has: holds((wanted: string, got: unknown) => typeof got === "string" && got.includes(wanted)),
  $not: (wanted, got, at) => (match(wanted, got, at) === null ? `${at}: matched ${show(wanted)}` : null),
  $all: (wanted, got, at) => first(wanted as unknown[], (item) => match(item, got, at)),
  $some: onList((wanted, got, at) =>
    got.some((item) => match(wanted, item, at) === null) ? null : `${at}: no ${show(wanted)} in ${show(got)}`,
  ),
  $none: onList((wanted, got, at) => {
    const found = got.find((item) => match(wanted, item, at) === null);
    return found === undefined ? null : `${at}: ${show(found)} is there`;
  }),
  $first: onList((wanted, got, at) => match(wanted, got[0], `${at}[first]`)),
  $last: onList((wanted, got, at) => match(wanted, got[got.length - 1], `${at}[last]`)),
  // Of an empty list everything is true, so it proves nothing.
  $each: onList((wanted, got, at) =>
    got.length === 0 ? `${at}: is empty` : first(got, (item, i) => match(wanted, item, `${at}[${i}]`)),
  ),
  $contents: onList((wanted, got, at) => match(wanted, got.map(contentOf), at)),
  $contents_set: onList((wanted, got, at) =>
    match([...(wanted as string[])].sort(), got.map(contentOf).sort(), at),
  ),
};

function applyMatcher(name: string, wanted: unknown, got: unknown, at: string): Mismatch {
  const matcher = MATCHERS[name];
  if (matcher === undefined) throw new Error(`unknown matcher ${name}`);
  return matcher(wanted, got, at);
}

/** Texts in code points, lists in items. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") return Array.from(value).length;
  return (value as { length?: number } | null)?.length ?? -1;
}

/** The text of a row without the label of its kind. */
function contentOf(row: unknown): string {
  return String((row as { content?: unknown }).content).replace(/^\[(Episode|Profile)\] /, "");
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= 600 ? text : `${text.slice(0, 600)}…`;
}
