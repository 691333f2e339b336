// Does recall find what the notes say, and stay silent on what they do not?
//   node bench/quality/recall.mjs [--json]
// Prints, by language: the share of answerable questions whose note is first and among the ten, and the share of
// unanswerable ones that got rows. Uses the built library and the notes in examples/.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openMemory } from "../../dist/index.js";
import { readDrafts } from "../../dist/intake/detect.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { questions } = JSON.parse(readFileSync(join(root, "bench/quality/questions.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "cpersona-quality-"));
const memory = await openMemory({ databasePath: join(folder, "memory.db") });
try {
  let stored = 0;
  for await (const item of readDrafts([join(root, "examples/notes")])) {
    if (item.draft === undefined) continue;
    const { content, timestamp, id } = item.draft;
    const { result } = await memory.store({ content, timestamp, msgId: id });
    if (result === "stored") stored++;
  }
  await memory.maintain();
  const asked = [];
  for (const { ask, expect } of questions) {
    const { hits } = await memory.recall({ query: ask, limit: 10 });
    const texts = hits.map(({ row }) => row.memory?.content ?? "").reverse();
    const place = expect === null ? -1 : texts.findIndex((text) => text.includes(expect));
    asked.push({
      ask,
      language: /[\u3040-\u30ff\u4e00-\u9fff]/.test(ask) ? "ja" : "en",
      expect,
      place,
      rows: hits.length,
    });
  }
  report(asked, stored);
} finally {
  await memory.close();
  rmSync(folder, { recursive: true, force: true });
}

function report(asked, stored) {
  const share = (part, all) =>
    all.length === 0 ? "-" : `${((100 * part.length) / all.length).toFixed(0)} %`;
  const table = ["en", "ja"].map((language) => {
    const own = asked.filter((question) => question.language === language);
    const answerable = own.filter(({ expect }) => expect !== null);
    const foreign = own.filter(({ expect }) => expect === null);
    return {
      language,
      answerable: answerable.length,
      first: share(
        answerable.filter(({ place }) => place === 0),
        answerable,
      ),
      "among ten": share(
        answerable.filter(({ place }) => place >= 0),
        answerable,
      ),
      unanswerable: foreign.length,
      "got rows": share(
        foreign.filter(({ rows }) => rows > 0),
        foreign,
      ),
    };
  });
  if (process.argv.includes("--json")) return console.log(JSON.stringify({ stored, table, asked }, null, 2));
  console.log(`${stored} memories`);
  console.table(table);
  for (const { ask, expect, place, rows } of asked) {
    if (expect !== null && place !== 0) console.log(`${place < 0 ? "missed" : `place ${place + 1}`}: ${ask}`);
    if (expect === null && rows > 0) console.log(`${rows} rows for: ${ask}`);
  }
}
