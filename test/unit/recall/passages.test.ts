import { describe, expect, it } from "vitest";
import { rowText } from "../../../ts/recall/candidate.js";
import { recallAnswer } from "../../../ts/response/answers.js";
import { passageRequest } from "../../../ts/response/full-content.js";
import type { MemoryService } from "../../../ts/service/memory-service.js";
import { openTestMemory } from "../../support/memory.js";

const FILLER = [
  "The weather over the valley stayed mild for most of the week.",
  "Several farmers discussed the price of barley at the market.",
  "A new bridge was painted green by volunteers from the village.",
  "The choir rehearsed an old song about sailors and the moon.",
  "Children counted geese on the frozen pond behind the mill.",
];
const filler = (chars: number): string => {
  let text = "";
  for (let i = 0; text.length < chars; i++) text += `${FILLER[i % FILLER.length]} `;
  return text;
};

async function ask(service: MemoryService, query: string) {
  const view = service.config.response;
  const answer = await service.recall({ query, passages: passageRequest(view) });
  return {
    answer,
    rows: recallAnswer(answer, view)["messages"] as {
      content: string;
      excerpt?: string;
      excerpt_basis?: string;
    }[],
  };
}

describe("with the embedded default", () => {
  const settings = { CPERSONA_EMBEDDING_MODE: "static" };

  it("finds a fact in the last sentence of a long note by its meaning, and shows it", async () => {
    const { service } = await openTestMemory({ settings });
    const fact = "Our physician advised against eating peanuts because of an allergy.";
    const note = await service.store({ content: `${filler(12_000)}${fact}` });
    for (let i = 0; i < 20; i++)
      await service.store({ content: `${filler(3000)}Number ${i} of the barley.` });
    // "Barley" is in every row, so that all come through the gate; meaning alone tells them apart.
    const { answer, rows } = await ask(service, "barley: doctor said nuts are dangerous for my health");
    expect(answer.hits.at(-1)?.row).toMatchObject({ memory: { id: note.id } });
    expect(rows.at(-1)?.excerpt).toContain(fact);
    expect(rows.at(-1)?.excerpt_basis).toBe("blocks");
  });

  it("gives the same excerpt every time", async () => {
    const { service } = await openTestMemory({ settings });
    await service.store({ content: `${filler(4000)}The ferry leaves at nine. ${filler(4000)}` });
    const [first, second] = [
      await ask(service, "when does the ferry leave"),
      await ask(service, "when does the ferry leave"),
    ];
    expect(first.rows).toEqual(second.rows);
    expect(first.rows.at(-1)?.excerpt).toContain("The ferry leaves at nine.");
  });
});

describe("by words alone", () => {
  it("lets rare words decide, in their other forms too, in English and Japanese", async () => {
    const { service } = await openTestMemory();
    await service.store({ content: `${filler(3000)}The geese were vaccinated in March. ${filler(3000)}` });
    await service.store({
      content: `${"村の会議は長く続いた。議題は橋の色だった。".repeat(60)}予防接種は三月に済ませた。${"村の会議は長く続いた。議題は橋の色だった。".repeat(60)}`,
    });
    const english = await ask(service, "vaccinating the geese");
    expect(english.rows.at(-1)?.excerpt).toContain("The geese were vaccinated in March.");
    expect(english.rows.at(-1)?.excerpt_basis).toBe("lexical");
    const japanese = await ask(service, "村の予防接種はいつ");
    expect(japanese.rows.at(-1)?.excerpt).toContain("予防接種は三月に済ませた。");
  });

  it("is only done when asked, for long rows, and not without a query", async () => {
    const { service } = await openTestMemory();
    const content = `${filler(3000)}The ferry leaves at nine.`;
    await service.store({ content });
    await service.store({ content: "The ferry is blue." });
    const plain = await service.recall({ query: "ferry" });
    expect(plain.hits.every((hit) => hit.passages === undefined)).toBe(true);
    expect(plain.hits.map(({ row }) => rowText(row))).toContain(content);
    const asked = (await ask(service, "ferry")).answer.hits;
    expect(asked.map((hit) => hit.passages !== undefined).sort()).toEqual([false, true]);
    expect((await ask(service, " ")).rows.every((row) => row.excerpt === undefined)).toBe(true);
  });

  it("looks into episodes without their label", async () => {
    const { service } = await openTestMemory();
    await service.archiveEpisode({ summary: `${filler(3000)}The ferry leaves at nine.` });
    const { rows } = await ask(service, "ferry");
    expect(rows.at(-1)?.content.startsWith("[Episode] The weather")).toBe(true);
    expect(rows.at(-1)?.excerpt).toContain("The ferry leaves at nine.");
  });
});
