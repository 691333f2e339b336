// The scenario files, each against the built server over stdio and against the tools inside this process.

import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe } from "vitest";
import { startInProcess, startServer } from "../support/client.js";
import { type EmbedStub, startEmbedStub } from "../support/embed-stub.js";
import type { Settings } from "../support/settings.js";
import type { RequirementId } from "./requirements.js";
import { play, readScenarios, type Scenario } from "./scenario.js";
import { verifies } from "./verifies.js";

let stub: EmbedStub;
beforeAll(async () => {
  stub = await startEmbedStub();
});
afterAll(() => stub.close());

function settingsOf({ embedder, settings = {} }: Scenario): Settings {
  if (embedder !== "stub") return { CPERSONA_EMBEDDING_MODE: embedder, ...settings };
  return { CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: stub.url, ...settings };
}

const files = readdirSync(new URL("scenarios/", import.meta.url)).filter((name) => name.endsWith(".json"));

describe.each(files)("%s", (file) => {
  for (const scenario of readScenarios(file)) {
    const id = scenario.verifies as RequirementId;
    verifies(id, `${scenario.title}, over stdio`, async () => {
      const server = await startServer({ env: settingsOf(scenario) });
      await play(scenario, server.call);
    });
    verifies(id, `${scenario.title}, in process`, async () => {
      const server = await startInProcess({ settings: settingsOf(scenario) });
      await play(scenario, server.call);
    });
  }
});
