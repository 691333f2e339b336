// LoCoMo and JSQuAD as collections: texts with their times, and questions with the numbers of the texts that
// answer them. A LoCoMo conversation is a collection of turns, 30 s apart in their session; JSQuAD is one
// collection of paragraphs, a day apart.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const MONTHS = [
  ...["january", "february", "march", "april", "may", "june", "july"],
  ...["august", "september", "october", "november", "december"],
];
const DAY_MS = 86_400_000;

export function readLocomo(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => conversation(JSON.parse(readFileSync(join(folder, name), "utf8"))));
}

function conversation(data) {
  const texts = [];
  const times = [];
  const numbers = new Map();
  for (let i = 1; `session_${i}` in data || `session_${i}_date_time` in data; i++) {
    const start = sessionStart(data[`session_${i}_date_time`]);
    for (const [n, turn] of (data[`session_${i}`] ?? []).entries()) {
      const { speaker, text = "", blip_caption: caption, dia_id: id } = turn;
      if (!numbers.has(id)) numbers.set(id, texts.length);
      texts.push(`${speaker}: ${text}`.trim() + (caption ? ` [image: ${caption}]` : ""));
      times.push(new Date(start + 30_000 * n).toISOString());
    }
  }
  const questions = data.qa
    // Category 5 has no answer in the conversation.
    .filter(({ category }) => category !== 5)
    .map(({ question, evidence }) => {
      const found = (evidence ?? []).filter((id) => numbers.has(id)).map((id) => numbers.get(id));
      return { question, relevant: new Set(found) };
    })
    .filter(({ relevant }) => relevant.size > 0);
  return { texts, times, questions };
}

/** "1:56 pm on 8 May, 2023" */
function sessionStart(text) {
  const match = /^(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)$/i.exec((text ?? "").trim());
  if (match === null) return Date.UTC(2023, 0, 1);
  const [, hour, minute, half, day, month, year] = match;
  const hours = (Number(hour) % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
  return Date.UTC(Number(year), MONTHS.indexOf(month.toLowerCase()), Number(day), hours, Number(minute));
}

export function readJsquad(file) {
  const texts = [];
  const numbers = new Map();
  const questions = [];
  for (const { paragraphs } of JSON.parse(readFileSync(file, "utf8")).data) {
    for (const { context, qas } of paragraphs) {
      const text = context.replaceAll(" [SEP] ", ": ");
      if (!numbers.has(text)) numbers.set(text, texts.push(text) - 1);
      for (const { question } of qas) questions.push({ question, relevant: new Set([numbers.get(text)]) });
    }
  }
  const times = texts.map((_, i) => new Date(Date.UTC(2020, 0, 1) + i * DAY_MS).toISOString());
  return [{ texts, times, questions }];
}
