// How much of the answer reaches the reader? Long records are stored, each question of the data set is asked,
// and of the passages that answer it, as far as their record is among the rows, the share is counted whose whole
// text the reader sees. With what an answer costs, in characters. Needs `npm run build` and data:
//
//   node bench/evidence.mjs --locomo FOLDER --jsquad FILE [--limit 5] [--every 1] [-- server command]
//
// FOLDER holds conversations of LoCoMo (one JSON file each): a session is a record, a turn the evidence. FILE is
// a JSQuAD file in SQuAD format: paragraphs of an article are joined to records of up to 6,000 characters, the
// sentence that holds the answer is the evidence. Settings of the environment reach the server.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MAIN, withServer } from "./with-server.mjs";

const RECORD_CHARS = 6000;

const VIEWS = [
  { name: "preview alone", env: { CPERSONA_RECALL_EXCERPT_CHARS: "0" } },
  { name: "excerpt 500", env: { CPERSONA_RECALL_EXCERPT_CHARS: "500" } },
  { name: "excerpt 800", env: {} },
  { name: "full content", env: {}, full: true },
];

function readLocomo(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => {
      const data = JSON.parse(readFileSync(join(folder, name), "utf8"));
      const turns = new Map();
      const records = [];
      for (let i = 1; `session_${i}` in data || `session_${i}_date_time` in data; i++) {
        const session = data[`session_${i}`] ?? [];
        if (session.length === 0) continue;
        const lines = session.map(({ speaker, text = "", blip_caption: caption }) => {
          return `${speaker}: ${text}${caption ? ` [image: ${caption}]` : ""}`;
        });
        const head = `Session of ${data[`session_${i}_date_time`]}`;
        records.push({ id: `s${i}`, text: [head, ...lines].join("\n") });
        for (const { dia_id: id, text = "" } of session) turns.set(id, { record: `s${i}`, text });
      }
      const questions = data.qa
        .filter(({ category }) => category !== 5)
        .map(({ question, evidence = [] }) => ({
          question,
          evidence: evidence.flatMap((id) => (turns.get(id)?.text ? [turns.get(id)] : [])),
        }))
        .filter(({ evidence }) => evidence.length > 0);
      return { records, questions };
    });
}

function readJsquad(file) {
  const records = [];
  const questions = [];
  for (const [i, { paragraphs }] of JSON.parse(readFileSync(file, "utf8")).data.entries()) {
    let open = null;
    for (const { context, qas } of paragraphs) {
      const text = context.replace(/^.*?\[SEP\]\s*/, "");
      const offset = context.length - text.length;
      if (open === null || open.text.length + text.length > RECORD_CHARS) {
        open = { id: `a${i}.${records.length}`, text: "" };
        records.push(open);
      }
      open.text += open.text === "" ? text : `\n\n${text}`;
      for (const { question, answers } of qas) {
        const at = answers[0].answer_start - offset;
        if (at >= 0)
          questions.push({ question, evidence: [{ record: open.id, text: sentenceAt(text, at) }] });
      }
    }
  }
  return [{ records, questions }];
}

function sentenceAt(text, at) {
  const end = text.indexOf("。", at);
  return text.slice(at === 0 ? 0 : text.lastIndexOf("。", at - 1) + 1, end < 0 ? text.length : end + 1);
}

const flat = (text) => text.replace(/\s+/g, " ").trim().toLowerCase();

async function measure(sets, command, { limit, every }) {
  const counts = VIEWS.map(() => ({ evidence: 0, found: 0, shown: 0, chars: 0, asked: 0 }));
  for (const { records, questions } of sets) {
    const folder = mkdtempSync(join(tmpdir(), "evidence-"));
    const database = { CPERSONA_DB_PATH: join(folder, "memory.db") };
    try {
      await withServer(command, database, async (call) => {
        for (const { id, text } of records) await call("store", { message: { id, content: text } });
      });
      for (const [v, { env, full = false }] of VIEWS.entries()) {
        await withServer(command, { ...database, ...env }, async (call) => {
          for (const asked of questions.filter((_, i) => i % every === 0))
            count(
              counts[v],
              asked,
              await call("recall", { query: asked.question, limit, full_content: full }),
            );
        });
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return counts;
}

function count(sum, { evidence }, { text, answer }) {
  sum.asked++;
  sum.chars += Array.from(text).length;
  const seen = new Map(
    answer.messages.map(({ id, content, excerpt = "" }) => [id, `${flat(content)} … ${flat(excerpt)}`]),
  );
  for (const { record, text: passage } of evidence) {
    sum.evidence++;
    if (!seen.has(record)) continue;
    sum.found++;
    if (seen.get(record).includes(flat(passage))) sum.shown++;
  }
}

function print(title, counts) {
  const share = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
  const [{ asked, evidence, found }] = counts;
  console.log(
    `\n${title}: ${asked} questions, ${share(found, evidence)} of the evidence's records among the rows`,
  );
  console.log("view           evidence the reader sees   characters an answer");
  for (const [i, { shown, found: of, chars, asked: answers }] of counts.entries()) {
    const line = [
      VIEWS[i].name.padEnd(15),
      share(shown, of).padStart(24),
      String(Math.round(chars / answers)).padStart(23),
    ];
    console.log(line.join(""));
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    locomo: { type: "string" },
    jsquad: { type: "string" },
    limit: { type: "string", default: "5" },
    every: { type: "string", default: "1" },
  },
});
const command = positionals.length > 0 ? positionals : [process.execPath, MAIN];
const options = { limit: Number(values.limit), every: Number(values.every) };
const sources = [
  ["LoCoMo, sessions as records (English)", values.locomo, readLocomo, "--locomo FOLDER"],
  ["JSQuAD, articles as records (Japanese)", values.jsquad, readJsquad, "--jsquad FILE"],
];
for (const [title, path, read, option] of sources) {
  if (path === undefined) {
    console.log(`${title}: not measured, no data (${option})`);
    continue;
  }
  let sets;
  try {
    sets = read(path);
  } catch (error) {
    console.log(`${title}: not measured, ${path} cannot be read (${error.code ?? error.message})`);
    continue;
  }
  print(title, await measure(sets, command, options));
}
