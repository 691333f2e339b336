import { rmSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { Advisories } from "../../../ts/service/advisories.js";
import { openTestMemory } from "../../support/memory.js";
import { nativeAbsence } from "../../support/native.js";

const WHOLE = { vectors: false, words: false };
const GAPS = { vectors: true, words: false };

const DOWN = { what: "words_only", reason: "no answer" } as const;

describe("an advisory", () => {
  it("comes in full once a session, then in short, and in full again in the next outage", () => {
    const advisories = new Advisories(true, false);
    const first = advisories.of("s", DOWN, WHOLE);
    expect(first).toMatchObject({ severity: "fault", scope: "session" });
    expect(first?.details?.evidence).toBe("no answer");
    expect(advisories.of(" s ", DOWN, WHOLE)?.details).toBeNull();
    expect(advisories.of("t", DOWN, WHOLE)?.details).not.toBeNull();
    // Back, but not all has its vector yet.
    expect(advisories.of("s", null, GAPS)).toMatchObject({ severity: "hint", details: null });
    expect(advisories.of("s", null, WHOLE)).toBeNull();
    expect(advisories.of("s", DOWN, WHOLE)?.details).not.toBeNull();
  });

  it("without a session is the process's", () => {
    const advisories = new Advisories(true, false);
    expect(advisories.of(undefined, DOWN, WHOLE)).toMatchObject({ scope: "process" });
    expect(advisories.of("", DOWN, WHOLE)?.details).toBeNull();
  });

  it("is told in full each time where callers without a session may be anybody", () => {
    const advisories = new Advisories(true, true);
    for (const _ of [1, 2]) expect(advisories.of(undefined, DOWN, WHOLE)?.details).not.toBeNull();
    expect(advisories.of("s", DOWN, WHOLE)?.details).not.toBeNull();
    expect(advisories.of("s", DOWN, WHOLE)?.details).toBeNull();
  });

  it("is a hint where embeddings are switched off", () => {
    expect(new Advisories(true, false).of("s", { what: "off", reason: "off" }, WHOLE)).toMatchObject({
      severity: "hint",
    });
  });

  it("is a hint while older rows wait for the vector index", () => {
    const advisory = new Advisories(true, false).of("s", { what: "newest_vectors", reason: "r" }, WHOLE);
    expect(advisory).toMatchObject({ severity: "hint", reason: expect.stringMatching(/older rows.*words/) });
  });

  it("can be switched off", () => {
    expect(new Advisories(false, false).of("s", DOWN, GAPS)).toBeNull();
  });

  it("remembers 256 sessions", () => {
    const advisories = new Advisories(true, false);
    for (let i = 0; i <= 256; i++) advisories.of(`s${i}`, DOWN, WHOLE);
    expect(advisories.of("s256", DOWN, WHOLE)?.details).toBeNull();
    expect(advisories.of("s0", DOWN, WHOLE)?.details).not.toBeNull();
  });
});

it("tells that older rows were found by words only, until a lost index is made anew", async () => {
  const settings = { CPERSONA_EMBEDDING_MODE: "static" };
  const first = await openTestMemory({ settings });
  await first.service.store({ content: "my automobile is green", agentId: "a" });
  for (let i = 0; i < 2600; i++)
    await first.service.store({ content: `invoice number ${i} of the year`, agentId: "a" });
  await first.service.close();
  rmSync(`${first.path}.vectors`, { recursive: true, force: true });
  const { service } = await openTestMemory({ settings, path: first.path });
  const ask = () => service.recall({ query: "car", agentId: "a" });
  const { advisory } = await ask();
  // An index in memory is made before the first answer.
  const hasFiles = nativeAbsence === "" && process.env["CPERSONA_NATIVE"] !== "off";
  if (hasFiles) expect(advisory).toMatchObject({ severity: "hint", reason: expect.stringMatching(/older/) });
  else expect(advisory).toBeNull();
  await vi.waitFor(async () => expect((await ask()).advisory).toBeNull(), 20_000);
}, 60_000);
