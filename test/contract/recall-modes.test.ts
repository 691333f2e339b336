// What restricts an answer does so in every recall mode.

import { afterAll, beforeAll, describe, expect } from "vitest";
import { startInProcess, type ToolCaller } from "../support/client.js";
import { type EmbedStub, startEmbedStub } from "../support/embed-stub.js";
import { ask, put, texts } from "./calls.js";
import { embeddedBy, MODES, UNCUT } from "./modes.js";
import { verifies } from "./verifies.js";

let stub: EmbedStub;
beforeAll(async () => {
  stub = await startEmbedStub();
});
afterAll(() => stub.close());

describe.each(MODES)("%s", (mode, settings) => {
  const start = (): Promise<ToolCaller> =>
    startInProcess({ settings: embeddedBy(stub, { ...UNCUT, ...settings }) });

  verifies("scope.every-mode", `${mode}, agent, project and channel`, async () => {
    const tools = await start();
    for (const project of ["", "p", "q"]) {
      for (const channel of ["", "c", "d"])
        await put(tools, `umbrella ${project}/${channel}`, { project_id: project, channel });
    }
    await tools.call("store", { agent_id: "agent-b", content: "umbrella of b" });
    const found = async (scope: object): Promise<string[]> =>
      (await texts(tools, "umbrella", scope)).map((text) => text.replace("umbrella ", "")).sort();
    const all = ["", "p", "q"].flatMap((project) => ["", "c", "d"].map((channel) => `${project}/${channel}`));
    expect(await found({})).toEqual(all);
    expect(await found({ project_id: "" })).toEqual(["/", "/c", "/d"]);
    expect(await found({ project_id: "p" })).toEqual(["/", "/c", "/d", "p/", "p/c", "p/d"]);
    expect(await found({ channel: "c" })).toEqual(["/", "/c", "p/", "p/c", "q/", "q/c"]);
    expect(await found({ project_id: "p", channel: "c" })).toEqual(["/", "/c", "p/", "p/c"]);
    expect(await found({ project_id: "", channel: "d" })).toEqual(["/", "/d"]);
    expect(await found({ agent_id: "agent-b" })).toEqual(["of b"]);
    expect(await found({ agent_id: "agent-b", project_id: "p" })).toEqual(["of b"]);
  });

  verifies("scope.every-mode", `${mode}, source_id, by words and by meaning`, async () => {
    const tools = await start();
    for (const id of ["chat:1", "chat:12", "mail:1"])
      await put(tools, `automobile ${id.replace(":", "")}`, { source: { type: "User", id } });
    for (const query of ["automobile", "car"]) {
      const found = async (sourceId: string): Promise<string[]> =>
        (await ask(tools, query, { source_id: sourceId })).map((row) => row["source"].id).sort();
      expect([query, await found("chat:1")]).toEqual([query, ["chat:1"]]);
      expect([query, await found("chat:")]).toEqual([query, ["chat:1", "chat:12"]]);
      expect([query, await found("mail")]).toEqual([query, []]);
    }
  });

  verifies("exclude.every-mode", `${mode}, 31 and 32 characters`, async () => {
    const text = "automobile in the long garage of the old house";
    const tools = await start();
    await put(tools, text);
    for (const query of ["automobile garage", "car"]) {
      const found = (chars: number) => texts(tools, query, { exclude_contents: [text.slice(0, chars)] });
      expect([query, await found(31)]).toEqual([query, [text]]);
      expect([query, await found(32)]).toEqual([query, []]);
      expect([query, await texts(tools, query, { exclude_contents: [text.toUpperCase()] })]).toEqual([
        query,
        [],
      ]);
    }
  });

  verifies("recall.limit", `${mode}, 0, 1 and all`, async () => {
    const tools = await start();
    for (let i = 0; i < 6; i++) await put(tools, `umbrella ${i}`);
    for (const limit of [0, 1, 3, 6, 50])
      expect(await texts(tools, "umbrella", { limit })).toHaveLength(Math.min(limit, 6));
  });

  verifies("recall.empty-query", `${mode}, ties by id`, async () => {
    const tools = await start();
    for (let i = 0; i < 5; i++) await put(tools, `umbrella ${i}`);
    expect(await texts(tools, "", { limit: 3 })).toEqual(["umbrella 2", "umbrella 3", "umbrella 4"]);
  });

  verifies("delete.removes", `${mode}, by meaning`, async () => {
    const tools = await start();
    const id = await put(tools, "automobile");
    expect(await texts(tools, "car")).toEqual(["automobile"]);
    await tools.call("delete_memory", { agent_id: "agent-a", memory_id: id });
    expect(await texts(tools, "car")).toEqual([]);
  });

  verifies("exclude.every-mode", `${mode}, an episode with its label`, async () => {
    const tools = await start();
    const summary = "automobile trip to the lake";
    await tools.call("archive_episode", { agent_id: "agent-a", summary, history: [] });
    const found = (entry: string) => texts(tools, "automobile trip", { exclude_contents: [entry] });
    expect(await found(`[Episode] ${summary}`)).toEqual([]);
    expect(await found("automobile")).toEqual([`[Episode] ${summary}`]);
  });

  verifies("scope.every-mode", `${mode}, a source_id hides episodes, which name no source`, async () => {
    const tools = await start();
    await put(tools, "automobile trip", { source: { type: "User", id: "chat:1" } });
    await tools.call("archive_episode", { agent_id: "agent-a", summary: "automobile trip", history: [] });
    expect(await texts(tools, "automobile trip")).toHaveLength(2);
    expect(await texts(tools, "automobile trip", { source_id: "chat:1" })).toEqual(["automobile trip"]);
  });
});
