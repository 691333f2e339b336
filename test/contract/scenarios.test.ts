// The scenario files, each against the built server over stdio and against the tools inside this process.

import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe } from "vitest";
import { startInProcess, startServer, type ToolCaller } from "../support/client.js";
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

/** ambient_recall answers with text and no data: as `_text`. */
function callOf({ client, call }: ToolCaller): ToolCaller["call"] {
  return async (tool, args) => {
    if (tool !== "ambient_recall") return call(tool, args);
    const { content } = await client.callTool({ name: tool, arguments: args as Record<string, unknown> });
    return { _text: (content as { text: string }[])[0]?.text };
  };
}

const files = readdirSync(new URL("scenarios/", import.meta.url)).filter((name) => name.endsWith(".json"));

describe.each(files)("%s", (file) => {
  for (const scenario of readScenarios(file)) {
    const id = scenario.verifies as RequirementId;
    if (scenario.inProcessOnly !== true) {
      verifies(id, `${scenario.title}, over stdio`, async () => {
        const server = await startServer({ env: settingsOf(scenario) });
        await play(scenario, callOf(server));
      });
    }
    verifies(id, `${scenario.title}, in process`, async () => {
      const server = await startInProcess({ settings: settingsOf(scenario) });
      await play(scenario, callOf(server));
    });
  }
});
