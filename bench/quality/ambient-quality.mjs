// Measures ambient recall on texts of our own: which slot shows what, and how often the gate opens for prompts
// with and without an answer. Works on any memory service, so that the bench and the tests run the same code.

import {
  ANSWERED,
  CONNECTING,
  CORRECTION,
  HEAVY,
  MEMORIES,
  QUERIES,
  SMALL_TALK,
  SMOKE_TAG,
  UNANSWERED,
} from "./ambient-corpus.mjs";
import { fillers } from "./filler.mjs";

const DIRECT_K = 2;

/** Stores what is not meant for people; refuses a memory that does not say so with its tag. */
export async function storeSmoke(service, request) {
  if (!(request.tags ?? []).includes(SMOKE_TAG))
    throw new Error(`test data must carry the tag ${SMOKE_TAG}: ${request.content.slice(0, 60)}`);
  return service.store(request);
}

async function put(service, memory, now, ageMs = memory.ageMs) {
  const { kind, tags, text: content } = memory;
  const request = { content, kind, tags, timestamp: new Date(now - ageMs).toISOString() };
  const outcome = tags.includes(SMOKE_TAG)
    ? await storeSmoke(service, request)
    : await service.store(request);
  return outcome.id;
}

/**
 * Fills an empty memory with the golden corpus and asks its queries. `ageMs` puts one age in the place of the
 * corpus's own, `heavy` adds the persona that was used a thousand times.
 */
export async function measureGolden(service, { now = Date.now(), ageMs, heavy = false } = {}) {
  const ids = new Map();
  for (const memory of [...MEMORIES, ...(heavy ? [HEAVY] : [])])
    ids.set(await put(service, memory, now, ageMs), memory.id);
  const heavyId = [...ids].find(([, name]) => name === HEAVY.id)?.[0];
  for (let i = 0; heavyId !== undefined && i < HEAVY.uses / 2; i++) {
    service.getContents([`mem:${heavyId}`]);
    if (i % 100 === 99) service.ambient.uses.flush();
  }
  service.ambient.uses.flush();
  const nameOf = (row) => ids.get(row.memory.id) ?? "?";
  const rows = [];
  for (const query of QUERIES) {
    const answer = await service.ambient.recall({
      query: query.query,
      directK: DIRECT_K,
      excludeTags: query.excludeTags ?? [],
    });
    const direct = answer.direct.map(({ row }) => nameOf(row));
    const lensing = answer.lensing.map(({ row }) => nameOf(row));
    const persona = answer.persona === null ? null : nameOf({ memory: answer.persona.memory });
    rows.push({
      ...query,
      shown: { direct, lensing, persona },
      isRight: isRight(query, { direct, lensing, persona }),
    });
  }
  return rows;
}

function isRight(query, { direct, lensing, persona }) {
  if (query.axis === "direct") return query.direct.every((name) => direct.includes(name));
  if (query.axis === "persona") return persona === query.persona;
  return ![...direct, ...lensing, persona].includes(query.never);
}

/** The newer statement must be shown in the place of the one it supersedes. */
export async function measureCorrection(service) {
  const old = await service.store({ content: CORRECTION.old });
  await service.store({
    content: CORRECTION.new,
    relations: [{ type: "supersedes", ref: `mem:${old.id}` }],
  });
  const { direct, text } = await service.ambient.recall({ query: CORRECTION.query, directK: DIRECT_K });
  return {
    first: direct[0]?.row.memory.content ?? null,
    showsOld: direct.some(({ row }) => row.memory.content === CORRECTION.old),
    isMarked: text.includes("supersedes mem:"),
  };
}

/** Fills a memory up to `rows` and counts for what the gate opens. */
export async function measureGate(service, rows) {
  const known =
    rows < ANSWERED.length
      ? [...ANSWERED.slice(0, rows / 2), ...ANSWERED.slice(16, 16 + rows / 2)]
      : ANSWERED;
  for (const { memory } of known) await service.store({ content: memory });
  for (const content of fillers(rows - known.length)) await service.store({ content });
  await service.maintain();
  const times = [];
  const ask = async (query, history = []) => {
    const started = performance.now();
    const answer = await service.ambient.recall({ query, history, directK: DIRECT_K });
    times.push(performance.now() - started);
    return answer;
  };
  const count = {
    answered: known.length,
    opened: 0,
    first: 0,
    shown: 0,
    right: 0,
    unanswered: 0,
    smallTalk: 0,
    connected: 0,
    connectedAlone: 0,
  };
  for (const { memory, prompt } of known) {
    const { direct } = await ask(prompt);
    const at = direct.findIndex(({ row }) => row.memory.content === memory);
    if (direct.length > 0) count.opened++;
    if (at === 0) count.first++;
    if (at >= 0) count.right++;
    count.shown += direct.length;
  }
  const opens = async (query, history) => (await ask(query, history)).direct.length > 0;
  const talk = [known[0].prompt, known[known.length - 1].prompt];
  for (const query of UNANSWERED) if (await opens(query)) count.unanswered++;
  for (const query of SMALL_TALK) if ((await opens(query)) || (await opens(query, talk))) count.smallTalk++;
  for (const query of CONNECTING) {
    if (await opens(query)) count.connectedAlone++;
    for (const prompt of talk) if (await opens(query, [prompt])) count.connected++;
  }
  times.sort((a, b) => a - b);
  return {
    rows,
    ...count,
    precision: count.shown === 0 ? 0 : count.right / count.shown,
    unansweredOf: UNANSWERED.length,
    smallTalkOf: SMALL_TALK.length,
    connectedOf: CONNECTING.length * talk.length,
    p50: times[Math.floor(times.length / 2)],
    p95: times[Math.floor(times.length * 0.95)],
  };
}

/** One line a query: what each slot showed, and whether that is right. */
export function heatMap(rows) {
  const width = 52;
  const cell = (text) => [...text].slice(0, width).join("").padEnd(width);
  return rows
    .map(({ axis, query, isRight, shown }) => {
      const slots = `direct=${shown.direct.join(",") || "-"} lensing=${shown.lensing.join(",") || "-"} persona=${shown.persona ?? "-"}`;
      return `${isRight ? "■" : "□"} ${axis.padEnd(8)} ${cell(query)} ${slots}`;
    })
    .join("\n");
}
