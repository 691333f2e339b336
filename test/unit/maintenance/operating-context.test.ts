import { utimesSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { startInProcess } from "../../support/client.js";
import { newPath } from "./support.js";

const TOML = `version = 1
context_revision = "r7"
[instructions]
summary = "Use the project names of the registry."
[registry]
project_ids = ["alpha", "beta"]
enforce = "warn"
[defaults]
agent-a = "alpha"
[[doctrine]]
name = "naming"
body = "Names are short."
`;

describe("get_operating_context", () => {
  it("is dormant without a file, with one that cannot be read, and when it is switched off", async () => {
    const path = newPath("context.toml");
    const settings = { CPERSONA_OPERATING_CONTEXT_PATH: path };
    const tools = await startInProcess({ settings });
    const dormant = { ok: false, enabled: false, error: expect.stringMatching("dormant") };
    expect(await tools.call("get_operating_context", {})).toEqual(dormant);
    writeFileSync(path, "version = ");
    expect(await tools.call("get_operating_context", {})).toEqual(dormant);
    const health = await tools.call("check_health", { checks: ["operating_context_parse"] });
    expect(health).toMatchObject({ status: "degraded", issues: [{ check: "operating_context_parse" }] });
    writeFileSync(path, TOML);
    const off = await startInProcess({ settings: { ...settings, CPERSONA_OPERATING_CONTEXT: "off" } });
    expect(await off.call("get_operating_context", {})).toEqual(dormant);
  });

  it("gives an overview, a section, and edits without a restart", async () => {
    const path = newPath("context.toml");
    writeFileSync(path, TOML);
    const tools = await startInProcess({ settings: { CPERSONA_OPERATING_CONTEXT_PATH: path } });
    expect(await tools.call("get_operating_context", {})).toEqual({
      ok: true,
      context_revision: "r7",
      instructions_summary: "Use the project names of the registry.",
      registry: { project_ids: ["alpha", "beta"], enforce: "warn" },
      defaults: { "agent-a": "alpha" },
      doctrine_sections: ["naming"],
    });
    expect(await tools.call("get_operating_context", { section: "naming" })).toEqual({
      ok: true,
      context_revision: "r7",
      section: "naming",
      body: "Names are short.",
    });
    expect(await tools.call("get_operating_context", { section: "other" })).toMatchObject({
      ok: false,
      doctrine_sections: ["naming"],
    });
    writeFileSync(path, TOML.replace("r7", "r8"));
    utimesSync(path, new Date(), new Date(Date.now() + 5000));
    expect(await tools.call("get_operating_context", {})).toMatchObject({ context_revision: "r8" });
  });
});
