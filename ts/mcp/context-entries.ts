// external_context as callers send it -> entries, with a note on fields of a wrong type.

import type { Config } from "../config.js";
import { invalidArgument } from "../errors.js";
import type { ContextEntry } from "../recall/with-context.js";

export interface ReadContext {
  readonly entries: readonly ContextEntry[];
  /** fields that are no text, by entry; empty when nobody wants to know */
  readonly issues: readonly { readonly index: number; readonly fields: readonly string[] }[];
}

const FIELDS = ["role", "content", "name", "user_id", "timestamp"] as const;

/** A field that is no text counts as absent. Entries without a usable content are dropped. */
export function readContext(
  raw: readonly Record<string, unknown>[],
  mode: Config["context"]["mode"],
): ReadContext {
  const issues = raw.flatMap((entry, index) => {
    const fields = FIELDS.filter(
      (field) => isWrong(entry[field]) || (field === "content" && text(entry[field]) === undefined),
    );
    return fields.length === 0 ? [] : [{ index, fields }];
  });
  const [first] = issues;
  if (mode === "reject" && first !== undefined) {
    throw invalidArgument(`external_context[${first.index}].${first.fields[0]}`, "must be a text");
  }
  const entries = raw.flatMap((entry) => {
    const content = text(entry["content"]);
    if (content === undefined) return [];
    return [
      {
        role: text(entry["role"]) ?? "",
        content,
        name: text(entry["name"]),
        userId: text(entry["user_id"]),
        timestamp: text(entry["timestamp"]),
      },
    ];
  });
  return { entries, issues: mode === "off" ? [] : issues };
}

function isWrong(value: unknown): boolean {
  return value !== undefined && value !== null && typeof value !== "string";
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
