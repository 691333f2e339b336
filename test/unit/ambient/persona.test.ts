import { describe, expect, it } from "vitest";
import { pickPersona } from "../../../ts/ambient/persona.js";
import { massOf, virtualCosine } from "../../../ts/ambient/quantities.js";
import { recordKey } from "../../../ts/domain/record.js";
import { aMemory } from "../../support/builders.js";

const QUERY = Float32Array.of(1, 0);
const at = (cosine: number) => Float32Array.of(cosine, Math.sqrt(1 - cosine * cosine));

function pick(personas: readonly { cosine: number; mass: number }[], options = {}) {
  const memories = personas.map((_, i) => ({
    ...aMemory(`persona ${i + 1}`),
    id: i + 1,
    locked: false,
    kind: "value" as const,
    tags: [],
  }));
  const vectors = new Map(personas.map(({ cosine }, i) => [recordKey("mem", i + 1), [at(cosine)]]));
  const chosen = pickPersona(memories, vectors, QUERY, {
    poolSize: 10,
    minRelevance: 0.65,
    massWeight: 0.3,
    calibrate: (raw) => raw,
    massOf: (key) => personas[key / 2 - 1]?.mass ?? 1,
    noveltyOf: () => 1,
    ...options,
  });
  return chosen?.memory.id ?? null;
}

describe("the persona", () => {
  it("is nobody when nobody fits", () => {
    expect(pick([{ cosine: 0.523, mass: 10 }])).toBeNull();
    expect(pick([])).toBeNull();
  });

  it("passes the floor first: a heavy misfit does not empty the slot", () => {
    expect(
      pick([
        { cosine: 0.523, mass: 10 },
        { cosine: 1, mass: 1 },
      ]),
    ).toBe(2);
  });

  it("weighs mass with the exponent 0.3", () => {
    const pair = [
      { cosine: 0.523, mass: 10 },
      { cosine: 1, mass: 1 },
    ];
    expect(pick(pair, { minRelevance: 0.3 })).toBe(1);
    expect(pick(pair, { minRelevance: 0.3, massWeight: 0.2 })).toBe(2);
    expect(pick(pair, { minRelevance: 0.3, massWeight: 0 })).toBe(2);
  });

  it("comes from the pool of the most relevant, not of the heaviest", () => {
    const many = Array.from({ length: 12 }, () => ({ cosine: 0.7, mass: 50 }));
    expect(pick([...many, { cosine: 0.99, mass: 1 }], { massWeight: 0, poolSize: 1 })).toBe(13);
  });

  it("is the older one of equals, and the other one when it was just shown", () => {
    const pair = [
      { cosine: 0.8, mass: 1 },
      { cosine: 0.8, mass: 1 },
    ];
    expect(pick(pair)).toBe(1);
    expect(pick(pair, { noveltyOf: (key: number) => (key === 2 ? 0.7 : 1) })).toBe(2);
  });
});

describe("quantities", () => {
  it("mass grows with the logarithm of decayed use", () => {
    const now = Date.parse("2026-11-30T00:00:00Z");
    const use = { recallCount: 3, weight: 3, lastRecalledAt: "2026-11-30 00:00:00" };
    expect(massOf(undefined, now)).toBe(1);
    expect(massOf(use, now)).toBeCloseTo(1 + Math.log(4), 6);
    expect(massOf(use, now + 30 * 86_400_000)).toBeCloseTo(1 + Math.log(2.5), 6);
  });

  it("the virtual cosine never lies more than 0.1 below the raw one", () => {
    const far = [{ vector: Float32Array.of(-1, 0), weight: 1 }];
    for (const cosine of [0.95, 0.8, 0.5, 0.1])
      expect(virtualCosine(QUERY, at(cosine), far)).toBeGreaterThanOrEqual(cosine - 0.1 - 1e-6);
    expect(virtualCosine(QUERY, at(0.3), [{ vector: QUERY, weight: 0.5 }])).toBeGreaterThan(0.7);
    expect(virtualCosine(QUERY, at(0.3), [])).toBeCloseTo(0.3, 6);
  });
});
