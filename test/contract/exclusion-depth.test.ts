// One entry may exclude many rows: what is left must still fill the answer.

import { afterAll, beforeAll, describe, expect } from "vitest";
import { startInProcess } from "../support/client.js";
import { type EmbedStub, startEmbedStub } from "../support/embed-stub.js";
import { put, texts } from "./calls.js";
import { ALONE, embeddedBy, MODES, UNCUT } from "./modes.js";
import { verifies } from "./verifies.js";

let stub: EmbedStub;
beforeAll(async () => {
  stub = await startEmbedStub();
});
afterAll(() => stub.close());

const PREFIX = "automobile automobile automobile automobile";

describe.each(MODES)("one entry against twelve rows, %s", (mode, settings) => {
  const rest = ["automobile red", "automobile green", "automobile black"];

  async function left(query: string): Promise<string[]> {
    const tools = await startInProcess({ settings: embeddedBy(stub, { ...ALONE, ...UNCUT, ...settings }) });
    for (const text of rest) await put(tools, text);
    for (let i = 0; i < 12; i++) await put(tools, `${PREFIX} ${i}`);
    return (await texts(tools, query, { limit: 3, exclude_contents: [PREFIX] })).sort();
  }

  verifies("exclude.does-not-cost-rows", `${mode}, by words`, async () => {
    expect(await left("automobile")).toEqual([...rest].sort());
  });

  verifies("exclude.does-not-cost-rows", `${mode}, by meaning`, async () => {
    expect(await left("car")).toEqual([...rest].sort());
  });
  verifies("exclude.does-not-cost-rows", `${mode}, empty query`, async () => {
    expect(await left("")).toEqual([...rest].sort());
  });
});
