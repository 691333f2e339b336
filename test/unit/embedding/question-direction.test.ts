import { describe, expect, it } from "vitest";
import {
  learnQuestionDirections,
  withoutQuestionDirection,
} from "../../../ts/embedding/question-direction.js";

/** A space of four axes: every Latin text leans along the first, every Japanese one along the second. */
function embedderLeaning(lean: number) {
  const asked: string[] = [];
  const embedQuery = async (text: string): Promise<Float32Array> => {
    asked.push(text);
    const axis = /[ぁ-んァ-ン一-龯]/.test(text) ? 1 : 0;
    const rest = Math.sqrt(1 - lean * lean) * (asked.length % 2 === 0 ? 1 : -1);
    return Float32Array.from([0, 1, 2, 3], (i) => (i === axis ? lean : i === 2 ? rest : 0));
  };
  return { asked, embedder: { embedQuery } };
}

describe("the direction of questions", () => {
  it("is the mean of questions without a subject, for each script", async () => {
    const { embedder, asked } = embedderLeaning(0.9);
    const directions = await learnQuestionDirections(embedder);
    expect(directions?.latin[0]).toBeCloseTo(0.9, 5);
    expect(directions?.japanese[1]).toBeCloseTo(0.9, 5);
    expect(directions?.latin[2]).toBeCloseTo(0, 5);
    expect(new Set(asked).size).toBe(asked.length);
  });

  it("is none where questions have little in common, or nothing at all", async () => {
    expect(await learnQuestionDirections(embedderLeaning(0.5).embedder)).toBeNull();
    expect(await learnQuestionDirections({ embedQuery: async () => null })).toBeNull();
  });

  it("is taken off the query by the script of its text, and what is left has unit length", () => {
    const directions = { latin: Float32Array.of(0.9, 0, 0), japanese: Float32Array.of(0, 0.9, 0) };
    const query = Float32Array.of(0.6, 0.6, Math.sqrt(1 - 0.72));
    const latin = withoutQuestionDirection(query, "where is it", directions);
    expect(Math.hypot(...latin)).toBeCloseTo(1, 5);
    expect(latin[0] as number).toBeLessThan(latin[1] as number);
    const japanese = withoutQuestionDirection(query, "どこ?", directions);
    expect(japanese[1] as number).toBeLessThan(japanese[0] as number);
  });

  it("leaves alone a query that is nothing else", () => {
    const query = Float32Array.of(1, 0);
    const directions = { latin: Float32Array.of(1 / 0.6, 0), japanese: Float32Array.of(0, 1) };
    expect(Array.from(withoutQuestionDirection(query, "what", directions))).toEqual([1, 0]);
  });
});
