// What does each embedder find, and what does a question cost with it? Stores every text of LoCoMo (English
// dialogue) and JSQuAD (Japanese paragraphs) in a fresh server, asks every question over MCP, and prints
// recall@10 and NDCG@10, the share of questions about another conversation that got rows, and the median time
// of a recall. Needs `npm run build` and data:
//
//   node bench/quality/embedders.mjs --locomo FOLDER --jsquad FILE
//     [--onnx NAME=MODEL_FOLDER]... [--http URL] [--api URL] [--only NAME]... [--every 1] [--record]
//
// Words alone (`none`) and the embedder inside the package (`static`) are always measured. `--record` writes
// bench/record/<cpu>/<date>-embedders.json.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { MAIN, withServer } from "../with-server.mjs";
import { readJsquad, readLocomo } from "./collections.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LIMIT = 10;
const AGENT = "a";

const { values } = parseArgs({
  options: {
    locomo: { type: "string" },
    jsquad: { type: "string" },
    onnx: { type: "string", multiple: true, default: [] },
    http: { type: "string" },
    api: { type: "string" },
    only: { type: "string", multiple: true, default: [] },
    every: { type: "string", default: "1" },
    record: { type: "boolean", default: false },
  },
});

function embeddersOf({ onnx, http, api, only }) {
  const all = [
    { name: "none", env: { CPERSONA_EMBEDDING_MODE: "none" } },
    { name: "static", env: { CPERSONA_EMBEDDING_MODE: "static" } },
    ...onnx.map((text) => {
      const at = text.indexOf("=");
      const path = text.slice(at + 1);
      const env = { CPERSONA_EMBEDDING_MODE: "onnx", CPERSONA_EMBEDDING_MODEL_PATH: path };
      return { name: `onnx ${at < 0 ? basename(path) : text.slice(0, at)}`, env };
    }),
  ];
  // A model beside a busy measurement may take longer than a person would wait.
  const patient = { CPERSONA_EMBEDDING_QUERY_TIMEOUT_MS: "20000" };
  if (http !== undefined)
    all.push({ name: "http", env: { CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: http } });
  if (api !== undefined)
    all.push({ name: "api", env: { CPERSONA_EMBEDDING_MODE: "api", CPERSONA_EMBEDDING_API_URL: api } });
  return all
    .filter(({ name }) => only.length === 0 || only.includes(name))
    .map(({ name, env }) => ({ name, env: { ...patient, ...env } }));
}

async function measure(collections, env, every) {
  const sum = { recall: 0, ndcg: 0, asked: 0, foreign: 0, answered: 0, unembedded: 0, times: [] };
  for (const collection of collections) {
    const folder = mkdtempSync(join(tmpdir(), "cpersona-embedders-"));
    try {
      const settings = { ...env, CPERSONA_DB_PATH: join(folder, "memory.db") };
      await withServer([process.execPath, MAIN], settings, async (call) => {
        for (const [i, content] of collection.texts.entries()) {
          const message = { id: `d${i}`, content, timestamp: collection.times[i] };
          const { answer } = await call("store", { agent_id: AGENT, message });
          if (answer.embedded !== true) sum.unembedded++;
        }
        for (const { question, relevant } of collection.questions.filter((_, i) => i % every === 0)) {
          const started = performance.now();
          const { answer } = await call("recall", { agent_id: AGENT, query: question, limit: LIMIT });
          sum.times.push(performance.now() - started);
          count(sum, numbersOf(answer), relevant);
        }
        for (const { question } of foreignTo(collection, collections)) {
          const { answer } = await call("recall", { agent_id: AGENT, query: question, limit: LIMIT });
          sum.foreign++;
          if (answer.messages.length > 0) sum.answered++;
        }
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return figures(sum);
}

/** Numbers of the rows, the best first; the last row of an answer is the best. */
function numbersOf({ messages }) {
  const ids = messages.map(({ id }) => String(id)).filter((id) => id.startsWith("d"));
  return [...new Set(ids.reverse().map((id) => Number(id.slice(1))))].slice(0, LIMIT);
}

function count(sum, found, relevant) {
  const gain = (place) => 1 / Math.log2(place + 2);
  let dcg = 0;
  for (const [place, number] of found.entries()) if (relevant.has(number)) dcg += gain(place);
  const ideal = Array.from({ length: Math.min(LIMIT, relevant.size) }, (_, place) => gain(place));
  sum.recall += found.filter((number) => relevant.has(number)).length / relevant.size;
  sum.ndcg += dcg / ideal.reduce((a, b) => a + b, 0);
  sum.asked++;
}

/** Some questions about the other conversations. */
function foreignTo(collection, collections) {
  return collections
    .filter((other) => other !== collection)
    .flatMap(({ questions }) => questions)
    .filter((_, i) => i % 37 === 0)
    .slice(0, 30);
}

function figures({ recall, ndcg, asked, foreign, answered, unembedded, times }) {
  const percent = (part, whole) => (whole === 0 ? null : Math.round((1000 * part) / whole) / 10);
  times.sort((a, b) => a - b);
  return {
    questions: asked,
    recall10: percent(recall, asked),
    ndcg10: percent(ndcg, asked),
    foreignAnswered: percent(answered, foreign),
    storedWithoutVector: unembedded,
    recallP50Ms: Math.round(10 * (times[times.length >> 1] ?? 0)) / 10,
  };
}

function print(title, rows) {
  console.log(`\n${title}`);
  console.log(`${"embedder".padEnd(24)}recall@10  NDCG@10  foreign answered  without vector  ms a recall`);
  for (const [name, row] of Object.entries(rows)) {
    const cells = [
      name.padEnd(24),
      String(row.recall10.toFixed(1)).padStart(9),
      String(row.ndcg10.toFixed(1)).padStart(9),
      (row.foreignAnswered === null ? "-" : `${row.foreignAnswered} %`).padStart(18),
      String(row.storedWithoutVector).padStart(16),
      String(row.recallP50Ms.toFixed(1)).padStart(13),
    ];
    console.log(cells.join(""));
  }
}

function record(results, every) {
  const [{ model = "unknown" } = {}] = cpus();
  const folder = join(
    ROOT,
    "bench",
    "record",
    model.replace(/\W+/g, "-").replace(/^-|-$/g, "").toLowerCase(),
  );
  const git = (...args) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
  const date = new Date().toISOString().slice(0, 10);
  const machine = { cpu: model, cores: availableParallelism(), node: process.versions.node };
  const path = join(folder, `${date}-embedders.json`);
  mkdirSync(folder, { recursive: true });
  // Several runs of a day stand side by side: one may measure what another left out.
  const kept = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { date, machine, runs: [] };
  kept.runs.push({ commit: git("rev-parse", "--short", "HEAD"), every, results });
  writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`);
  console.log(`\nwritten to ${path.slice(ROOT.length)}`);
}

const every = Math.max(1, Number(values.every) || 1);
const sources = [
  ["LoCoMo", values.locomo, readLocomo, "--locomo FOLDER"],
  ["JSQuAD", values.jsquad, readJsquad, "--jsquad FILE"],
];
const results = {};
for (const [title, path, read, option] of sources) {
  if (path === undefined) {
    console.log(`${title}: not measured, no data (${option})`);
    continue;
  }
  let collections;
  try {
    collections = read(path);
  } catch (error) {
    console.log(`${title}: not measured, ${path} cannot be read (${error.code ?? error.message})`);
    continue;
  }
  results[title] = {};
  for (const { name, env } of embeddersOf(values)) {
    results[title][name] = await measure(collections, env, every);
    console.error(`${title} ${name}: ${JSON.stringify(results[title][name])}`);
  }
  print(title, results[title]);
}
if (values.record && Object.keys(results).length > 0) record(results, every);
