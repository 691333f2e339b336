// The demonstration: starts the real server, stores notes through it, asks questions, shows the answers.
// Meant for people; nothing here is used by the server.
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readConfig } from "../../config.js";
import { describeError } from "../../errors.js";
import { loadDriver } from "../../store/driver.js";
import { paint, printable, type Screen, screenOf } from "../style.js";
import { type Filled, fill } from "./fill.js";
import { count, type ExampleQuestion, median, readQuestions, type Tally } from "./questions.js";
import { type Expectation, placeOf, renderAnswer } from "./render.js";
import { Session } from "./session.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const USAGE = `Usage: npm run demo [-- [options] files or folders]

Without arguments: stores the notes of examples/notes and asks the questions of examples/questions.json.
With Markdown, text, JSONL exports or Claude Code transcripts (or folders of them): stores these, then
answers the questions that you type, or that come line by line on stdin.

  --db PATH     use this database file instead of a fresh one in a temporary folder
  --keep        keep the temporary database and name it at the end
  --limit N     rows per answer (default 5)
  --help        this text
`;
const PROMPT_HELP = `  A question, in English or Japanese: the rows that answer it, best first.
  :limit N   show N rows from now on      :help   this text
  An empty line, :quit or Ctrl-D ends.
`;
const MAX_NOTES_SHOWN = 12;

interface Options {
  paths: string[];
  db: string | undefined;
  keep: boolean;
  limit: number;
}

const out = process.stdout;
const screen: Screen = screenOf(out, process.env);
const times: number[] = [];

function readOptions(argv: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      db: { type: "string" },
      keep: { type: "boolean", default: false },
      limit: { type: "string", default: "5" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const limit = Number(values.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    throw new Error("--limit must be a whole number from 1 to 100");
  }
  return { paths: positionals, db: values.db, keep: values.keep, limit };
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) {
    out.write(USAGE);
    return;
  }
  const folder =
    options.db === undefined ? await mkdtemp(join(await realpath(tmpdir()), "cpersona-demo-")) : undefined;
  const db = options.db === undefined ? join(folder ?? "", "memory.db") : resolve(options.db);
  const dropFolder = () => {
    if (folder !== undefined && !options.keep)
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  // Ctrl-C reaches the server too (same process group), which then closes by itself.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      dropFolder();
      process.exit(130);
    });
  }
  try {
    await run(options, db);
    if (options.keep || options.db !== undefined) out.write(`Database: ${db}\n`);
  } finally {
    dropFolder();
  }
}

async function run(options: Options, db: string): Promise<void> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value;
  env["CPERSONA_DB_PATH"] = db;
  const mainFile = join(ROOT, "dist", "cli", "main.js");
  if (!existsSync(mainFile)) throw new Error("dist/cli/main.js is missing: run `npm run build` first");
  const session = await Session.start(mainFile, env);
  try {
    const { name, version } = session.server;
    out.write(`${paint(screen, "bold", `${name} ${version}`)} answers over stdio\n`);
    const example = options.paths.length === 0;
    const questions = example ? await readQuestions(join(ROOT, "examples", "questions.json")) : [];
    const expected = new Map<ExampleQuestion, string>();
    const paths = example ? [join(ROOT, "examples", "notes")] : options.paths;
    const filled = await fill(session, paths, { stream: out, screen }, (draft) => {
      for (const question of questions) {
        if (question.expect === null || draft.id === undefined) continue;
        if (draft.content.includes(question.expect)) expected.set(question, draft.id);
      }
    });
    report(filled);
    if (filled.stored + filled.skipped === 0) {
      process.exitCode = 1;
      return;
    }
    const tally: Tally = { asked: 0, first: 0, among: 0, unanswerable: 0, silent: 0 };
    let advisory: string | undefined;
    if (example) {
      for (const question of questions) {
        const expectation: Expectation = {
          id: question.expect === null ? null : (expected.get(question) ?? ""),
        };
        const answer = await session.recall(question.ask, options.limit);
        advisory ??= answer.advisory;
        times.push(answer.ms);
        count(tally, question.expect === null, placeOf(answer, expectation), answer.rows.length);
        out.write(
          renderAnswer(question.ask, answer, { screen, now: new Date(), shown: 2, expected: expectation }),
        );
      }
    } else advisory = await converse(session, options.limit);
    summarise(filled, tally, advisory);
  } finally {
    await session.close();
  }
}

/** Answers typed or piped questions until they end. */
async function converse(session: Session, limit: number): Promise<string | undefined> {
  const typed = process.stdin.isTTY === true && screen.live;
  const lines = createInterface({ input: process.stdin, output: typed ? out : undefined, prompt: "ask> " });
  let shown = limit;
  let advisory: string | undefined;
  if (typed) {
    out.write(`Ask something (:help for help, an empty line ends).\n`);
    lines.prompt();
  }
  for await (const line of lines) {
    const question = line.trim();
    const command = /^:(\w+)\s*(\d*)$/.exec(question);
    if ((question === "" && typed) || command?.[1] === "quit") break;
    if (command?.[1] === "limit" && Number(command[2]) >= 1) shown = Math.min(Number(command[2]), 100);
    else if (command) out.write(PROMPT_HELP);
    else if (question !== "") {
      const answer = await session.recall(question, shown);
      advisory ??= answer.advisory;
      times.push(answer.ms);
      out.write(renderAnswer(question, answer, { screen, now: new Date(), shown }));
    }
    if (typed) lines.prompt();
  }
  lines.close();
  return advisory;
}

function report(filled: Filled): void {
  const { files, stored, skipped, rejected, seconds, notes } = filled;
  const rate = Math.round((stored + skipped + rejected) / Math.max(seconds, 0.001));
  const parts = [
    `stored ${stored} ${stored === 1 ? "memory" : "memories"} from ${files} ${files === 1 ? "file" : "files"}`,
  ];
  if (skipped > 0) parts.push(`${skipped} already known`);
  if (rejected > 0) parts.push(`${rejected} refused`);
  out.write(`${parts.join(", ")} in ${seconds.toFixed(1)} s (${rate}/s)\n`);
  for (const note of notes.slice(0, MAX_NOTES_SHOWN)) {
    const place = note.line === undefined ? note.file : `${note.file}:${note.line}`;
    out.write(paint(screen, "yellow", `  note: ${printable(place)}: ${printable(note.text)}`));
    out.write("\n");
  }
  if (notes.length > MAX_NOTES_SHOWN) out.write(`  and ${notes.length - MAX_NOTES_SHOWN} more notes\n`);
  out.write("\n");
}

function summarise(filled: Filled, tally: Tally, advisory: string | undefined): void {
  const { stored, skipped, rejected, embedded } = filled;
  const meaning =
    embedded > 0
      ? `by meaning and by words (${embedded} of ${stored} stored memories have a vector)`
      : `by words only${advisory === undefined ? "" : `: ${printable(advisory)}`}`;
  // The server is silent about its parts; the same settings on the same Node give the same ones.
  const config = readConfig();
  const parts = `embedder ${config.embedding.mode}, SQLite driver ${loadDriver(config.database.driver).name}`;
  const lines = [
    `${stored} stored, ${skipped} skipped, ${rejected} rejected`,
    `searched ${meaning}`,
    `${parts}, Node ${process.versions.node}`,
  ];
  if (times.length > 0)
    lines.push(`recall: median ${median(times).toFixed(1)} ms over ${times.length} questions`);
  if (tally.asked > 0) {
    lines.push(
      `expected note first for ${tally.first} of ${tally.asked} questions, among the rows for ${tally.among}`,
    );
    lines.push(
      `questions without an answer in the notes: ${tally.silent} of ${tally.unanswerable} gave no rows`,
    );
  }
  out.write(`${paint(screen, "bold", "Summary")}\n${lines.map((line) => `  ${line}\n`).join("")}`);
}

main().catch((error: unknown) => {
  process.stderr.write(`demo: ${describeError(error)}\n`);
  process.exitCode = 1;
});
