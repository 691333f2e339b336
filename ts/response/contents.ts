// The answers that show stored rows for themselves: get_contents and the lists.

import { formatCursor } from "../domain/cursor.js";
import type { Episode, Memory } from "../domain/memory.js";
import type { ContentsAnswer } from "../service/contents.js";
import { countChars } from "../text/characters.js";
import { fitPage } from "./budget.js";
import { type RowOptions, toItem, toListedEpisode, toListedMemory, type WireObject } from "./rows.js";

/** Texts and everything beside them in one answer, so that twenty long rows do not fill an agent's context. */
const CONTENTS_BUDGET_CHARS = 40_000;

export function contentsAnswer({ rows, missing, unresolved = [] }: ContentsAnswer): WireObject {
  const items: WireObject[] = [];
  const deferred: unknown[] = [];
  let used = 0;
  for (const row of rows) {
    const item = toItem(row);
    const size = countChars(JSON.stringify(item));
    // The first row always fits: a caller that asks for one gets it.
    if (deferred.length > 0 || (items.length > 0 && used + size > CONTENTS_BUDGET_CHARS))
      deferred.push(row.given ?? item["ref"]);
    else items.push(item);
    used += size;
  }
  return {
    items,
    missing,
    count: items.length,
    ...(unresolved.length === 0 ? {} : { unresolved }),
    ...(deferred.length === 0 ? {} : { deferred, budget_chars: CONTENTS_BUDGET_CHARS }),
  };
}

/** How a list is shown: previews, `limit` rows a page, and no more than the whole answer may hold. */
export interface ListView extends RowOptions {
  readonly budgetChars: number;
}

/** Expects one row more than `limit` where there is one: then the answer names the cursor of the next page. */
export function memoryListAnswer(memories: readonly Memory[], view: ListView, limit: number): WireObject {
  const rows = memories.slice(0, limit).map((memory) => toListedMemory(memory, view));
  return listAnswer("memories", rows, memories, view);
}

export function episodeListAnswer(episodes: readonly Episode[], view: ListView, limit: number): WireObject {
  const rows = episodes.slice(0, limit).map((episode) => toListedEpisode(episode, view));
  return listAnswer("episodes", rows, episodes, view);
}

/** Room for the keys around the rows and the cursor. */
const FRAME_CHARS = 200;

function listAnswer(
  name: string,
  rows: readonly WireObject[],
  records: readonly { readonly createdAt: string; readonly id: number }[],
  { budgetChars }: ListView,
): WireObject {
  const page = fitPage(rows, budgetChars - FRAME_CHARS);
  const last = page.length < records.length ? records[page.length - 1] : undefined;
  return {
    [name]: page,
    count: page.length,
    ...(last === undefined ? {} : { next_cursor: formatCursor(last) }),
  };
}
