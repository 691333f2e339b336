// Names that differ in one digit: whoever asks for one gets the row that holds it, whatever resembles it more.

import { describe, expect } from "vitest";
import { MODES } from "../../contract/modes.js";
import { verifies } from "../../contract/verifies.js";
import { openTestMemory } from "../../support/memory.js";
import type { Settings } from "../../support/settings.js";

interface Named {
  readonly name: string;
  readonly content: string;
  readonly questions: readonly string[];
}

type Shape = readonly [
  makeName: (a: number, b: number) => string,
  content: string,
  questions: readonly string[],
];

const SHAPES: readonly Shape[] = [
  [
    (a, b) => `zq${a}x${b}`,
    "Device NAME reports its temperature every five minutes to the gateway",
    ["how often does NAME report its temperature?", "NAMEの温度はどのくらいの間隔で送られますか"],
  ],
  [
    (a, b) => `svc-auth-${a}${b}`,
    "NAME runs in the staging cluster and restarts every night",
    ["where does NAME run and when does it restart?", "NAMEはどこで動いていますか"],
  ],
  [
    (a, b) => `E${a}04${b}`,
    "エラー NAME はキャッシュの期限切れで起きるので、再起動で直る",
    ["what causes the error NAME?", "エラーNAMEの原因は何ですか"],
  ],
  [
    (a, b) => `src/module${a}/reader${b}.ts`,
    "NAME の設定は起動のときに一度だけ読まれる",
    ["when are the settings of NAME read?", "NAMEの設定はいつ読まれますか"],
  ],
];

/** 119 of each shape. */
function makeNames(): Named[] {
  return SHAPES.flatMap(([nameOf, content, questions]) =>
    Array.from({ length: 119 }, (_, i) => {
      const name = nameOf(Math.floor(i / 10), i % 10);
      const fill = (text: string): string => text.replaceAll("NAME", name);
      return { name, content: fill(content), questions: questions.map(fill) };
    }),
  );
}

/** Rows that say what the questions say, about nothing that has a name. */
function makeNoise(count: number): string[] {
  return Array.from(
    { length: count },
    (_, i) =>
      [
        `how often the temperature is reported every five minutes was discussed in meeting ${i}`,
        `the settings of the reader are read when the error restarts it, note ${i}`,
        `原因は何ですかという質問と設定の温度について ${i} 回話した`,
      ][i % 3] as string,
  );
}

async function storeOf(names: readonly Named[], settings: Settings) {
  const memory = await openTestMemory({ settings });
  const contents = [...names.map(({ content }) => content), ...makeNoise(120)];
  for (const content of contents) await memory.service.store({ agentId: "agent-a", content });
  return memory.service;
}

/** The questions whose best row is not the one that holds the name. */
async function missed(
  names: readonly Named[],
  service: Awaited<ReturnType<typeof storeOf>>,
): Promise<string[]> {
  const out: string[] = [];
  for (const { content, questions } of names)
    for (const query of questions) {
      const { hits } = await service.recall({ agentId: "agent-a", query, limit: 3 });
      const best = hits.at(-1)?.row;
      if (best?.kind !== "mem" || best.memory.content !== content) out.push(query);
    }
  return out;
}

const EMBEDDERS: readonly (readonly [string, Settings])[] = [
  ["without embedder", { CPERSONA_EMBEDDING_MODE: "none" }],
  ["static embedder", { CPERSONA_EMBEDDING_MODE: "static" }],
];

describe.each(EMBEDDERS)("%s", (_, embedder) => {
  describe.each(MODES)("%s", (mode, settings) => {
    verifies("words.exact-identifier-first", async () => {
      const names = makeNames();
      expect(names).toHaveLength(476);
      const service = await storeOf(names, { ...embedder, ...settings });
      const asked = mode === "rrf" ? names : names.filter((_, i) => i % 7 === 0);
      expect(await missed(asked, service)).toEqual([]);
    });
  });
});
