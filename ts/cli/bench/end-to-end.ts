// `bench recall` and `bench store`: what a client of the server waits for, as the store grows; beside CPersona
// where Python has it, both with the same embedding server. And what the server costs: start, memory, clients.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemory } from "../../open-memory.js";
import type { MemoryService } from "../../service/memory-service.js";
import { AGENT, type Corpus, makeCorpus, messageOf, type QueryKind } from "./corpus.js";
import { startEmbedServer } from "./embed-server.js";
import { Peer } from "./peer.js";
import { openSession, ownCommand, type ServerCommand } from "./session.js";
import { percentile, remark, say, type TableRow, timeCells, timed } from "./table.js";

export interface EndToEndOptions {
  readonly rows: number;
  readonly runs: number;
  /** Python with `cpersona`; null leaves it out */
  readonly python: string | null;
}

const WARM = 5;
/** CPersona searches the vectors of the newest 10,000 rows: further on its column would show FTS5 alone. */
const MOST_PEER_ROWS = 50_000;
/** Rows stored over stdio behind the others, for `store`. */
const STORED_OVER_STDIO = 200;
const STARTS = 5;
const CLIENTS = [1, 2, 4, 8] as const;
const REQUESTS_PER_CLIENT = 40;

/** Everything in a folder that goes when it is done; settings for both sides where they are compared. */
async function inFolder<T>(
  { rows, python }: EndToEndOptions,
  work: (folder: string, settings: Record<string, string>, peer: Peer | null) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "cpersona-bench-"));
  const isCompared = python !== null && rows <= MOST_PEER_ROWS;
  if (python !== null && !isCompared) remark(`${rows} rows: CPersona is left out above ${MOST_PEER_ROWS}`);
  const embedder = isCompared ? await startEmbedServer() : null;
  try {
    if (!isCompared || embedder === null) return await work(folder, {}, null);
    const settings = { CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: embedder.url };
    return await work(folder, settings, new Peer({ python, folder, settings, embedder }));
  } finally {
    embedder?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export function benchStore(options: EndToEndOptions): Promise<TableRow[]> {
  return inFolder(options, async (folder, settings, peer) => {
    const { rows } = options;
    const corpus = makeCorpus(7);
    const path = join(folder, "memory.db");
    const memory = await openMemory({ databasePath: path, environment: { ...process.env, ...settings } });
    const inProcess = await fill(memory, corpus, rows);
    await memory.close();
    const overStdio = await storeOverStdio(ownCommand(path, settings), corpus, rows);
    await peer?.fill(corpus, rows);
    const theirs = peer === null ? null : await storeOverStdio(peer.server, corpus, rows);
    const last = Math.max(10, Math.floor(rows / 10));
    return [
      { what: "store in process", rows, ...timeCells(inProcess), "per s": perSecond(inProcess) },
      { what: "store in process, last tenth", rows, ...timeCells(inProcess.slice(-last)) },
      {
        what: "store over stdio, then",
        rows,
        ...timeCells(overStdio),
        "per s": perSecond(overStdio),
        ...(theirs === null ? {} : peerCells(overStdio, theirs)),
      },
    ];
  });
}

function perSecond(times: readonly number[]): number {
  return (times.length * 1000) / times.reduce((sum, time) => sum + time, 0);
}

function peerCells(ours: readonly number[], theirs: readonly number[]): TableRow {
  const median = percentile(theirs, 0.5);
  return { "cpersona p50 ms": median, "cpersona / ours": median / percentile(ours, 0.5) };
}

async function fill(memory: MemoryService, corpus: Corpus, rows: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < rows; i++) {
    if (i % 1000 === 0) say(`storing ${i} of ${rows}`);
    const start = performance.now();
    await memory.store({ content: corpus.text(i), msgId: `m${i}`, agentId: AGENT });
    times.push(performance.now() - start);
  }
  await memory.maintain();
  return times;
}

async function storeOverStdio(server: ServerCommand, corpus: Corpus, from: number): Promise<number[]> {
  const session = await openSession(server);
  try {
    say(`storing over stdio behind ${from}`);
    return await timed(STORED_OVER_STDIO, 0, (run) => {
      const i = from + run;
      return session.call("store", { agent_id: AGENT, message: { id: `m${i}`, ...messageOf(corpus, i) } });
    });
  } finally {
    await session.close();
  }
}

export function benchRecall(options: EndToEndOptions): Promise<TableRow[]> {
  return inFolder(options, async (folder, settings, peer) => {
    const { rows, runs } = options;
    const corpus = makeCorpus(7);
    const path = join(folder, "memory.db");
    const memory = await openMemory({ databasePath: path, environment: { ...process.env, ...settings } });
    await fill(memory, corpus, rows);
    const inProcess = await recallInProcess(memory, corpus, rows, runs);
    const files = memory.status().vectors?.bytes ?? null;
    await memory.close();
    const server = ownCommand(path, settings);
    const starts = await startTimes(server);
    const ours = await recallOverStdio(server, corpus, runs);
    await peer?.fill(corpus, rows);
    const theirs = peer === null ? null : await recallOverStdio(peer.server, corpus, runs);
    return [
      startRow(rows, starts, theirs),
      ...Array.from(ours.times, ([kind, times]) => ({
        what: `recall over stdio, ${kind}`,
        rows,
        ...timeCells(times),
        ...(theirs === null ? {} : peerCells(times, theirs.times.get(kind) ?? [])),
      })),
      ...inProcess,
      ...memoryRows(rows, ours, files),
      ...(await recallOverHttp(path, settings, corpus, rows)),
    ];
  });
}

function startRow(rows: number, starts: readonly number[], theirs: OverStdio | null): TableRow {
  const peer = theirs === null ? {} : peerCells(starts, [theirs.startMs]);
  return { what: "start to initialize", rows, ...timeCells(starts), ...peer };
}

async function startTimes(server: ServerCommand): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < STARTS; run++) {
    say(`start ${run + 1}`);
    const session = await openSession(server);
    times.push(session.startMs);
    await session.close();
  }
  return times;
}

/** Each kind of question through the library, and which share of the time each step took. */
async function recallInProcess(
  memory: MemoryService,
  corpus: Corpus,
  rows: number,
  runs: number,
): Promise<TableRow[]> {
  const out: TableRow[] = [];
  for (const [kind, query] of kinds(corpus)) {
    say(`${rows} rows: recall in process, ${kind}`);
    const stages = new Map<string, number>();
    const times = await timed(runs, WARM, async (run) => {
      const { trace } = await memory.recall({ query: query(run), agentId: AGENT, trace: true });
      for (const { stage, ms } of trace?.stages ?? []) stages.set(stage, (stages.get(stage) ?? 0) + ms);
    });
    out.push({ what: `recall in process, ${kind}`, rows, ...timeCells(times), stages: shares(stages) });
  }
  return out;
}

/** Steps that take 5 % and more, largest first. */
function shares(stages: ReadonlyMap<string, number>): string {
  const all = [...stages.values()].reduce((sum, ms) => sum + ms, 0);
  return [...stages]
    .map(([stage, ms]) => ({ stage, percent: Math.round((100 * ms) / Math.max(all, 1e-9)) }))
    .filter(({ percent }) => percent >= 5)
    .sort((a, b) => b.percent - a.percent)
    .map(({ stage, percent }) => `${stage} ${percent} %`)
    .join(", ");
}

function kinds({ queries }: Corpus): [QueryKind, (run: number) => string][] {
  return Object.entries(queries) as [QueryKind, (run: number) => string][];
}

interface OverStdio {
  readonly startMs: number;
  readonly times: ReadonlyMap<QueryKind, readonly number[]>;
  readonly memory: ProcessMemory | null;
}

async function recallOverStdio(server: ServerCommand, corpus: Corpus, runs: number): Promise<OverStdio> {
  const session = await openSession(server);
  try {
    const times = new Map<QueryKind, readonly number[]>();
    for (const [kind, query] of kinds(corpus)) {
      say(`recall over stdio, ${kind}`);
      times.set(
        kind,
        await timed(runs, WARM, (run) =>
          session.call("recall", { agent_id: AGENT, query: query(run), limit: 10 }),
        ),
      );
    }
    return { startMs: session.startMs, times, memory: memoryOf(session.pid) };
  } finally {
    await session.close();
  }
}

interface ProcessMemory {
  /** MB that nobody else can use */
  readonly own: number;
  /** MB of files that are mapped and in memory now; shared with every process that maps them */
  readonly mapped: number;
}

/** Null where the system has no /proc. */
function memoryOf(pid: number): ProcessMemory | null {
  try {
    const text = readFileSync(`/proc/${pid}/status`, "utf8");
    const field = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024;
    return { own: field("RssAnon"), mapped: field("RssFile") };
  } catch {
    return null;
  }
}

function memoryRows(rows: number, { memory }: OverStdio, files: number | null): TableRow[] {
  const cells: [string, number | null][] = [
    ["memory of the server's own", memory?.own ?? null],
    ["mapped files in memory", memory?.mapped ?? null],
    ["vector index on disk", files === null ? null : files / 2 ** 20],
  ];
  return cells.flatMap(([what, mb]) => (mb === null ? [] : [{ what, rows, MB: mb }]));
}

/** The same server over HTTP, with more and more clients that each ask one question after the other. */
async function recallOverHttp(
  path: string,
  settings: Record<string, string>,
  corpus: Corpus,
  rows: number,
): Promise<TableRow[]> {
  const token = "bench";
  const http = { ...settings, CPERSONA_AUTH_TOKEN: token, CPERSONA_HTTP_HOST: "127.0.0.1" };
  const { command, args, env } = ownCommand(path, http, ["serve", "--http", "--port", "0"]);
  const child = spawn(command, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  try {
    const base = await new Promise<string>((resolve, reject) => {
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const address = /listening on (http:\S+)/.exec(said)?.[1];
        if (address !== undefined) resolve(address);
      });
      child.once("close", () => reject(new Error(`the HTTP server did not start: ${said}`)));
    });
    // Each client has questions of its own: one that was asked before is in the embedder's cache.
    let asked = 0;
    const ask = async (): Promise<void> => {
      const answer = await fetch(`${base}/recall`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({
          agent_id: AGENT,
          query: corpus.queries["six common words"](asked++),
          limit: 10,
        }),
      });
      if (!answer.ok) throw new Error(`recall over HTTP answered ${answer.status}`);
      await answer.text();
    };
    await timed(10, 0, ask);
    const out: TableRow[] = [];
    for (const clients of CLIENTS) {
      say(`${rows} rows: ${clients} HTTP clients`);
      const begun = performance.now();
      const times = await Promise.all(
        Array.from({ length: clients }, () => timed(REQUESTS_PER_CLIENT, 0, ask)),
      );
      const seconds = (performance.now() - begun) / 1000;
      out.push({
        what: `recall over HTTP, clients: ${clients}`,
        rows,
        ...timeCells(times.flat()),
        "per s": (clients * REQUESTS_PER_CLIENT) / seconds,
      });
    }
    return out;
  } finally {
    child.kill();
  }
}

/** The command when that Python has this module, else null with one line that says so. */
export function findPython(command: string | undefined, module: string): string | null {
  if (command === "") return null;
  const python = command ?? "python3";
  try {
    execFileSync(python, ["-c", `import ${module}`], { stdio: "ignore" });
    return python;
  } catch {
    remark(`${python} has no ${module}: the peers are left out (--python names another)`);
    return null;
  }
}
