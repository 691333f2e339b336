// What a recall or a store costs in SQLite must not grow with the store: the plans of all statements that the
// everyday tools run.

import { expect, it, vi } from "vitest";
import { Database } from "../../../ts/store/database.js";
import { startInProcess } from "../../support/client.js";

/** Of a few rows, whatever is stored: scopes, settings and the like. */
const SMALL = /^SCAN (scopes|settings|embedders|profiles|sqlite_sequence|g|CONSTANT ROW)\b/;
/** Reads no table, or looks rows up by a list that the statement was given, or by full text. */
const GIVEN = /^SCAN (json_each|.* VIRTUAL TABLE INDEX)/;

/** Steps of a plan that look through rows which nobody asked for. */
function dearSteps(database: Database, text: string): string[] {
  const values = Array.from(text.matchAll(/\?/g), () => "1");
  const steps = database
    .sql(`EXPLAIN QUERY PLAN ${text}`)
    .all(...values)
    .map((row) => String(row["detail"]));
  // An ORDER BY that an index serves ends with its LIMIT.
  const isCut = /\bLIMIT\b/.test(text) && !steps.some((step) => step.startsWith("USE TEMP B-TREE FOR ORDER"));
  const isList = /\bIN \(SELECT value/.test(text);
  return steps.filter((step) => {
    if (step.startsWith("SCAN")) return !SMALL.test(step) && !GIVEN.test(step) && !isCut;
    // Rows of a list are looked up one by one, not picked out of all that the agent has.
    return isList && /^SEARCH (memories|episodes|embeddings)\b.*\((agent_id|scope|embedder)=/.test(step);
  });
}

it("cost no more in a large store than in a small one", async () => {
  const tools = await startInProcess({ settings: { CPERSONA_EMBEDDING_MODE: "static" } });
  const agent = { agent_id: "agent-a" };
  const plain = { message: { content: "staging moved to port 6432 of umbrella", tags: ["ops"] } };
  await tools.call("store", {
    ...agent,
    message: { id: "m0", content: "the invoices are in the blue folder" },
  });
  const run = new Map<string, Database>();
  const sql = Database.prototype.sql;
  vi.spyOn(Database.prototype, "sql").mockImplementation(function (this: Database, text) {
    if (!text.startsWith("EXPLAIN")) run.set(text, this);
    return sql.call(this, text);
  });
  for (const scope of [agent, { ...agent, project_id: "p" }, { ...agent, project_id: "p", channel: "c" }]) {
    await tools.call("store", { ...scope, ...plain });
    await tools.call("store", {
      ...scope,
      message: { id: "m1", content: "the umbrella stands in the hall" },
    });
    await tools.call("archive_episode", { ...scope, summary: "we talked of the umbrella in the hall" });
    for (const query of ["umbrella in the hall", "port 6432", "傘はどこ", ""])
      await tools.call("recall", { ...scope, query });
    await tools.call("recall", { ...scope, query: "umbrella", exclude_tags: ["ops"], source_id: "u" });
    await tools.call("recall_with_context", { ...scope, query: "umbrella", external_context: [] });
    // Its answer is a block of text.
    await tools.client.callTool({
      name: "ambient_recall",
      arguments: { ...scope, query: "where is the umbrella?" },
    });
    await tools.call("get_contents", { ...scope, refs: ["mem:1", "ep:1"] });
    await tools.call("update_memory", {
      ...scope,
      memory_id: 1,
      content: "the invoices are in a red folder",
    });
    await tools.call("list_memories", { ...scope, limit: 5 });
  }
  expect(run.size).toBeGreaterThan(30);
  const dear = Array.from(run, ([text, database]) => ({ text, steps: dearSteps(database, text) }));
  expect(dear.filter(({ steps }) => steps.length > 0)).toEqual([]);
});
