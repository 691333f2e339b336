// The answer of recall_with_context: rows and echoed entries in one list.

import { type ContextEntry, isShown } from "../recall/with-context.js";
import type { ContextAnswer } from "../service/memory-service.js";
import { recallAnswer } from "./answers.js";
import { cutText, type RowOptions, toMessage, type WireObject } from "./rows.js";

export interface ContextNotes {
  readonly entries: readonly ContextEntry[];
  readonly issues: readonly { readonly index: number; readonly fields: readonly string[] }[];
}

export function contextAnswer(
  answer: ContextAnswer,
  { entries, issues }: ContextNotes,
  options: RowOptions,
): WireObject {
  const hidden = [...new Set(entries.filter((entry) => !isShown(entry)).map(({ role }) => role))];
  return {
    ...recallAnswer(answer, options),
    messages: answer.merged.map((merged) =>
      merged.kind === "hit" ? toMessage(merged.hit, options) : toEcho(merged.entry, options),
    ),
    ...(hidden.length === 0
      ? {}
      : {
          context_filter_only: {
            roles: hidden,
            note: "entries of these roles filter the rows and are not shown",
          },
        }),
    ...(issues.length === 0
      ? {}
      : {
          context_field_issues: {
            entries: issues,
            note: "these fields are no texts and were taken as absent; entries without content were dropped",
          },
        }),
  };
}

/** The caller has the whole text, so echoes are cut like rows, and there is no ref to read on. */
function toEcho({ role, content, name, userId, timestamp }: ContextEntry, options: RowOptions): WireObject {
  const shownName = name ?? "User";
  const source =
    role === "assistant"
      ? { type: "Agent", id: "self" }
      : { type: "User", id: `discord:${userId ?? shownName}`, name: shownName };
  return {
    ...cutText("content", content, options),
    source,
    timestamp: timestamp ?? "",
    context_type: "conversation",
  };
}
