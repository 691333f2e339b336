// The answer of recall_with_context: rows and echoed entries in one list.

import { type ContextEntry, isShown } from "../recall/with-context.js";
import type { ContextAnswer } from "../service/memory-service.js";
import { cutChars } from "../text/characters.js";
import { type Shown, shownRows } from "./answers.js";
import { cutText, type RecallView, type WireObject } from "./rows.js";

export interface ContextNotes {
  readonly entries: readonly ContextEntry[];
  readonly issues: readonly { readonly index: number; readonly fields: readonly string[] }[];
}

export function contextAnswer(
  answer: ContextAnswer,
  { entries, issues }: ContextNotes,
  view: RecallView,
): WireObject {
  const hidden = [...new Set(entries.filter((entry) => !isShown(entry)).map(({ role }) => role))];
  const shown = answer.merged.map((merged): Shown => {
    return merged.kind === "hit" ? { hit: merged.hit } : { forms: echoForms(merged.entry, view) };
  });
  // The caller holds the conversation: it gives way to stored rows, the oldest of it first.
  const echoes = shown.flatMap((row, i) => ("hit" in row ? [] : [i])).reverse();
  return {
    ...shownRows(answer, view, shown, echoes),
    ...(hidden.length === 0
      ? {}
      : {
          context_filter_only: {
            roles: hidden.slice(0, MAX_NAMED).map((role) => cutChars(role, MAX_ROLE_CHARS)),
            note: "entries of these roles filter the rows and are not shown",
          },
        }),
    ...(issues.length === 0
      ? {}
      : {
          context_field_issues: {
            entries: issues.slice(0, MAX_NAMED),
            ...(issues.length > MAX_NAMED ? { more: issues.length - MAX_NAMED } : {}),
            note: "these fields are no texts and were taken as absent; entries without content were dropped",
          },
        }),
  };
}

/** Notes about the caller's own entries name so many of them. */
const MAX_NAMED = 20;
const MAX_ROLE_CHARS = 40;
const SHORT_ECHO_CHARS = 120;
/** Names come from the caller and are no place for a long text. */
const MAX_NAME_CHARS = 256;

function echoForms(entry: ContextEntry, { previewChars }: RecallView): WireObject[] {
  const whole = toEcho(entry, previewChars);
  const isLong = previewChars <= 0 || previewChars > SHORT_ECHO_CHARS;
  return isLong ? [whole, toEcho(entry, SHORT_ECHO_CHARS)] : [whole];
}

/** The caller has the whole text, so echoes are cut like rows, and there is no ref to read on. */
function toEcho({ role, content, name, userId, timestamp }: ContextEntry, previewChars: number): WireObject {
  const shownName = cutChars(name ?? "User", MAX_NAME_CHARS);
  const source =
    role === "assistant"
      ? { type: "Agent", id: "self" }
      : { type: "User", id: `discord:${cutChars(userId ?? shownName, MAX_NAME_CHARS)}`, name: shownName };
  return {
    ...cutText("content", content, { previewChars }),
    source,
    timestamp: timestamp ?? "",
    context_type: "conversation",
  };
}
