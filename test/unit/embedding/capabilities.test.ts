import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Capabilities, capabilitiesOf } from "../../../ts/embedding/capabilities.js";
import { type EmbedStub, startEmbedStub } from "../../support/embed-stub.js";

let stub: EmbedStub;
beforeEach(async () => {
  stub = await startEmbedStub();
});
afterEach(() => stub.close());

const ask = () =>
  new Capabilities(stub.url).modelName({ timeoutMs: 20_000, signal: new AbortController().signal });

describe("a server's own account of its model", () => {
  it("is a short name, the same for the same model and another for another", async () => {
    const name = await ask();
    expect(name).toMatch(/^model-[0-9a-f]{16}$/);
    expect(await ask()).toBe(name);
    stub.model = "other";
    expect(await ask()).not.toBe(name);
  });

  it.each<[string, unknown]>([
    ["no fingerprint", { fingerprint: null, incomplete: ["digests.graph"] }],
    ["an empty one", { fingerprint: "" }],
    ["a number", { fingerprint: 7 }],
    ["a list", ["1:x"]],
  ])("is none with %s", async (_, answer) => {
    stub.instead = () => answer;
    expect(await ask()).toBeNull();
  });

  it("is none where there is no such route", async () => {
    stub.statusOf.capabilities = 404;
    expect(await ask()).toBeNull();
  });

  it("is not known while nobody answers: that is not the same as none", async () => {
    stub.statusOf.capabilities = 503;
    await expect(ask()).rejects.toMatchObject({ reason: "unreachable" });
    await stub.close();
    await expect(ask()).rejects.toMatchObject({ reason: "unreachable" });
  });

  it("is asked for beside /embed alone", () => {
    expect(capabilitiesOf({ mode: "http", url: "http://localhost:1/v1/embeddings" })).toBeNull();
    expect(capabilitiesOf({ mode: "static", url: "http://localhost:1/embed" })).toBeNull();
    expect(capabilitiesOf({ mode: "http", url: "no address" })).toBeNull();
    expect(capabilitiesOf({ mode: "http", url: "http://localhost:1/embed?key=x" })).not.toBeNull();
  });
});
