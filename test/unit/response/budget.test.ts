import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recallAnswer } from "../../../ts/response/answers.js";
import { fitPage, fitRows, leftOutNote, wireSize } from "../../../ts/response/budget.js";
import { episodeListAnswer, memoryListAnswer } from "../../../ts/response/contents.js";
import { passageRequest, wholeRows } from "../../../ts/response/full-content.js";
import { aMemory, anEpisode } from "../../support/builders.js";

const storedMemory = (content: string) => ({ kind: "note" as const, tags: [], ...aMemory(content) });

const view = { previewChars: 500, excerptChars: 800, budgetChars: 60_000 };
const hit = (content: string, id: number) => ({
  row: { kind: "mem" as const, memory: { ...storedMemory(content), id, locked: false } },
});
const answer = (hits: ReturnType<typeof hit>[]) => ({
  hits,
  gateFallback: false,
  degraded: null,
  advisory: null,
  trace: null,
});
const contents = (rows: unknown): number[] =>
  (rows as { content: string }[]).map(({ content }) => Array.from(content).length);

describe("wireSize", () => {
  it("counts characters of the JSON, those beyond ASCII twice", () => {
    expect(wireSize("ab")).toBe(4);
    expect(wireSize("日本")).toBe(6);
    expect(wireSize("🎌")).toBe(4);
    expect(wireSize({ a: "\n" })).toBe('{"a":"\\n"}'.length);
    expect(wireSize(undefined)).toBe(0);
  });
});

describe("fitRows", () => {
  const forms = fc.array(
    fc
      .integer({ min: 1, max: 50 })
      .map((size) => [3, 2, 1].map((factor) => ({ t: "x".repeat(size * factor) }))),
    { minLength: 1, maxLength: 12 },
  );

  it("keeps to the budget, the better rows never poorer than the weaker ones", () => {
    fc.assert(
      fc.property(forms, fc.integer({ min: 70, max: 1500 }), (rows, budget) => {
        const order = rows.map((_, i) => rows.length - 1 - i);
        const fitted = fitRows(rows, order, budget);
        const shown = fitted.rows.filter((row) => row !== null);
        expect(shown.reduce((sum, row) => sum + wireSize(row) + 1, 0)).toBeLessThanOrEqual(budget);
        const levels = order.map((i) => {
          const row = fitted.rows[i];
          return row === null || row === undefined ? 3 : (rows[i]?.indexOf(row as { t: string }) ?? 3);
        });
        expect(levels).toEqual([...levels].sort((a, b) => a - b));
        expect(fitted.leftOut).toBe(rows.length - shown.length);
      }),
    );
  });

  it("always keeps the best row", () => {
    const fitted = fitRows([[{ t: "weak" }], [{ t: "x".repeat(100) }]], [1, 0], 10);
    expect(fitted.rows.map((row) => row !== null)).toEqual([false, true]);
    expect(leftOutNote(fitted, 10)).toEqual({ left_out: { rows: 1, shortened: 0, budget_chars: 10 } });
  });

  it("says nothing when everything fits", () => {
    expect(leftOutNote(fitRows([[{ t: "a" }]], [0], 100), 100)).toEqual({});
  });
});

describe("a recall answer", () => {
  it("of a hundred long rows stays within its size, shortens the weakest rows and says so", () => {
    const hits = Array.from({ length: 100 }, (_, i) => hit("long text ".repeat(200), i + 1));
    const shaped = recallAnswer(answer(hits), view);
    expect(wireSize(shaped)).toBeLessThanOrEqual(60_000);
    const lengths = contents(shaped["messages"]);
    expect(lengths).toHaveLength(100);
    expect(lengths[0]).toBe(120);
    expect(lengths.at(-1)).toBe(500);
    expect(shaped["left_out"]).toMatchObject({ rows: 0, budget_chars: 60_000 });
  });

  it("of Japanese rows too, and of rows with large sources", () => {
    const rows = Array.from({ length: 100 }, (_, i) => ({
      row: {
        kind: "mem" as const,
        memory: {
          ...storedMemory("長い文章です。".repeat(300)),
          id: i + 1,
          locked: false,
          source: { note: "出典".repeat(2000) },
        },
      },
    }));
    const shaped = recallAnswer(answer(rows as never), view);
    expect(wireSize(shaped)).toBeLessThanOrEqual(60_000);
    expect((shaped["left_out"] as { rows: number }).rows).toBeGreaterThan(80);
    expect((shaped["messages"] as { ref: string }[]).at(-1)?.ref).toBe("mem:100");
  });
});

describe("full content", () => {
  it("shows the best rows whole within 200,000 characters, and cuts the others", () => {
    const hits = Array.from({ length: 15 }, (_, i) => hit("x".repeat(16_000), i + 1));
    const shaped = recallAnswer(answer(hits), { ...view, fullContent: true });
    expect(contents(shaped["messages"])).toEqual([500, 500, 500, ...new Array(12).fill(16_000)]);
    expect(shaped["full_content_budget_chars"]).toBe(200_000);
    expect(shaped["left_out"]).toBeUndefined();
  });

  it("says nothing of a budget that did not bite, and shows the first row whatever its length", () => {
    const one = recallAnswer(answer([hit("x".repeat(210_000), 1)]), { ...view, fullContent: true });
    expect(contents(one["messages"])).toEqual([210_000]);
    expect(one["full_content_budget_chars"]).toBeUndefined();
  });

  it("cuts every row behind the first that does not fit, even shorter ones", () => {
    const hits = [hit("y".repeat(600), 1), hit("x".repeat(150_000), 2), hit("x".repeat(100_000), 3)];
    const { whole, isOverBudget } = wholeRows(hits, { ...view, fullContent: true });
    expect(hits.map((row) => whole.has(row))).toEqual([false, false, true]);
    expect(isOverBudget).toBe(true);
  });

  it("asks for passages of exactly the rows that are cut", () => {
    const hits = [hit("short", 1), hit("x".repeat(501), 2)];
    expect([...(passageRequest(view)?.of(hits) ?? [])]).toEqual([hits[1]]);
    expect([...(passageRequest({ ...view, fullContent: true })?.of(hits) ?? [])]).toEqual([]);
    expect(passageRequest({ ...view, excerptChars: 0 })).toBeUndefined();
    expect(passageRequest({ ...view, previewChars: 0 })).toBeUndefined();
  });
});

describe("a list", () => {
  const memories = Array.from({ length: 200 }, (_, i) => ({
    ...storedMemory("a text ".repeat(100)),
    id: 200 - i,
    locked: false,
  }));

  it("is a page within the size of an answer, with the cursor of the next one", () => {
    const shaped = memoryListAnswer(memories, view, 500);
    expect(wireSize(shaped)).toBeLessThanOrEqual(60_000);
    expect(shaped["count"]).toBeLessThan(200);
    expect(shaped["next_cursor"]).toEqual(expect.any(String));
  });

  it("has no cursor on its last page", () => {
    expect(memoryListAnswer(memories.slice(0, 3), view, 3)).not.toHaveProperty("next_cursor");
    expect(memoryListAnswer(memories.slice(0, 4), view, 3)).toHaveProperty("next_cursor");
    expect(memoryListAnswer(memories.slice(0, 1), view, 0)).toEqual({ memories: [], count: 0 });
    const episode = { ...anEpisode("a plan"), id: 1 };
    expect(episodeListAnswer([episode], view, 5)).not.toHaveProperty("next_cursor");
  });

  it("shows at least one row", () => {
    expect(fitPage([{ t: "x".repeat(100) }, { t: "y" }], 10)).toHaveLength(1);
  });
});
