// Arguments of a call -> checked input. Wrong types that can mean only one thing are taken for it; everything
// else is refused with the field and its rule.

import type { z } from "zod";
import { depthDefect, parseJson } from "../domain/json.js";
import { invalidArgument, type MemoryError } from "../errors.js";
import { textDefect } from "../text/clean.js";

/** The part of JSON Schema that our tools use. */
export interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Throws `invalid_argument`. Unknown arguments are ignored, so that newer clients keep working. */
export function parseArguments<Input extends z.ZodObject>(
  input: Input,
  schema: JsonSchema,
  raw: unknown,
): z.output<Input> {
  checkDepth(raw);
  const given = coerce(raw ?? {}, schema);
  checkTexts(given, "");
  const parsed = input.safeParse(given, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw toMemoryError(parsed.error.issues[0], schema);
}

/** Looked at first: what comes behind may walk through the arguments by recursion. */
function checkDepth(raw: unknown): void {
  const isObject = typeof raw === "object" && raw !== null && !Array.isArray(raw);
  for (const [name, value] of isObject ? Object.entries(raw) : [["arguments", raw] as const]) {
    const defect = depthDefect(value);
    if (defect !== null)
      throw invalidArgument(textDefect(name) === null ? name.slice(0, 64) : "arguments", defect);
  }
}

/** Text that no one could have written is refused wherever it stands, reads included. */
function checkTexts(value: unknown, at: string): void {
  if (typeof value === "string") {
    const defect = textDefect(value);
    if (defect !== null) throw invalidArgument(at === "" ? "arguments" : at, defect);
  } else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) checkTexts(item, `${at}[${i}]`);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      // The name itself is looked at first: a refusal must not carry what it refuses.
      checkTexts(name, at);
      checkTexts(item, at === "" ? name : `${at}.${name}`);
    }
  }
}

function coerce(value: unknown, schema: JsonSchema): unknown {
  if (schema.type === "object" && schema.properties !== undefined)
    return coerceObject(parseText(value), schema.properties);
  if (schema.type === "object" || schema.type === "array") return coerceItems(parseText(value), schema.items);
  if (schema.type === "string")
    return typeof value === "number" || typeof value === "bigint" ? String(value) : value;
  if (typeof value !== "string") return value;
  const text = value.trim();
  if ((schema.type === "integer" || schema.type === "number") && /^[+-]?\d+(\.\d+)?$/.test(text))
    return Number(text);
  if (schema.type === "boolean" && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  return value;
}

function coerceObject(value: unknown, properties: Readonly<Record<string, JsonSchema>>): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value)
    // Agents write null for "nothing".
    .filter(([, item]) => item !== null)
    .map(([name, item]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, property === undefined ? item : coerce(item, property)];
    });
  return Object.fromEntries(entries);
}

function coerceItems(value: unknown, items: JsonSchema | undefined): unknown {
  return Array.isArray(value) && items !== undefined ? value.map((item) => coerce(item, items)) : value;
}

/** A JSON string where a list or an object is wanted. */
function parseText(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}

function toMemoryError(issue: z.core.$ZodIssue | undefined, schema: JsonSchema): MemoryError {
  const path = issue?.path ?? [];
  const field = path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
  const rule = path.reduce<JsonSchema | undefined>(
    (at, part) => (typeof part === "number" ? at?.items : at?.properties?.[String(part)]),
    schema,
  );
  const isMissing = issue?.code === "invalid_type" && issue.input === undefined;
  if (issue?.code === "custom") return invalidArgument(field, issue.message);
  return invalidArgument(
    field === "" ? "arguments" : field,
    `${isMissing ? "is required and " : ""}must be ${describe(rule ?? schema)}`,
  );
}

/** The rule of a value in words: `a whole number from 0 to 100`. */
function describe(schema: JsonSchema): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  const range = between(schema.minimum, schema.maximum);
  switch (schema.type) {
    case "integer":
      return `a whole number${range}`;
    case "number":
      return `a number${range}`;
    case "boolean":
      return "true or false";
    case "string":
      return schema.maxLength === undefined ? "a text" : `a text of at most ${schema.maxLength} characters`;
    case "array":
      return `a list${between(schema.minItems, schema.maxItems, " of")}${schema.items?.type === "string" ? " texts" : " items"}`;
    default:
      return "an object";
  }
}

function between(min: number | undefined, max: number | undefined, word = " from"): string {
  const high = max === undefined || max >= Number.MAX_SAFE_INTEGER ? undefined : max;
  const low = min === undefined || min <= Number.MIN_SAFE_INTEGER ? undefined : min;
  if (low !== undefined && high !== undefined) return `${word} ${low} to ${high}`;
  if (low !== undefined) return ` of at least ${low}`;
  return high === undefined ? "" : ` of at most ${high}`;
}
