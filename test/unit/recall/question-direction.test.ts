import { expect, onTestFinished } from "vitest";
import { verifies } from "../../contract/verifies.js";
import { startEmbedStub } from "../../support/embed-stub.js";
import { openTestMemory } from "../../support/memory.js";
import { sql } from "../../support/store.js";

const QUESTION = "does the automobile start at nine?";
const ANSWER = "the car engine runs at nine";

/**
 * A store in which every row but one is a short question, on an embedder that sees form before words. All rows share
 * the one word that opens the answer, so that only vectors can tell them apart.
 */
async function chattyStore() {
  const stub = await startEmbedStub();
  onTestFinished(() => stub.close());
  stub.formShare = 0.45;
  const settings = {
    CPERSONA_EMBEDDING_MODE: "http",
    CPERSONA_EMBEDDING_URL: stub.url,
    CPERSONA_EMBEDDING_WEIGHT: "10",
  };
  const memory = await openTestMemory({ settings });
  await memory.service.store({ agentId: "agent-a", content: ANSWER });
  for (let i = 0; i < 20; i++)
    await memory.service.store({ agentId: "agent-a", content: `nine topic${i} and subject${i}, right?` });
  return { ...memory, stub, settings };
}

verifies("recall.form-of-questions", async () => {
  const { service, path, settings, stub } = await chattyStore();
  const recall = async (open = service) =>
    (await open.recall({ agentId: "agent-a", query: QUESTION, limit: 5 })).hits;
  const texts = async (open = service) =>
    (await recall(open)).map(({ row }) => row.kind === "mem" && row.memory.content);
  expect(await texts()).not.toContain(ANSWER);
  await service.maintain();
  const hits = await recall();
  const best = hits.at(-1);
  expect(best?.row).toMatchObject({ memory: { content: ANSWER } });
  // What is shown is the cosine of question and row, as it always was.
  const cosines = hits.map(({ matchReason }) => matchReason?.cosine ?? 0);
  expect(cosines.at(-1)).toBeLessThan(Math.max(...cosines));
  // The next process knows it without asking.
  const asked = stub.asked.length;
  const next = await openTestMemory({ path, settings });
  expect((await texts(next.service)).at(-1)).toBe(ANSWER);
  expect(stub.asked.slice(asked)).toEqual([QUESTION]);
  expect(sql(path, "SELECT count(*) AS n FROM settings WHERE name LIKE 'question-direction:%'")).toEqual([
    { n: 1 },
  ]);
});

verifies("recall.form-of-questions", "cascade orders by the cosine it shows", async () => {
  const { service, path, settings } = await chattyStore();
  await service.maintain();
  const cascade = await openTestMemory({ path, settings: { ...settings, CPERSONA_RECALL_MODE: "cascade" } });
  const { hits } = await cascade.service.recall({ agentId: "agent-a", query: QUESTION, limit: 5 });
  const cosines = hits.flatMap(({ matchReason }) => matchReason?.cosine ?? []);
  expect(cosines.length).toBeGreaterThan(1);
  expect(cosines).toEqual([...cosines].sort((a, b) => a - b));
});
