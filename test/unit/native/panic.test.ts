import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { coded, settled } from "../../../ts/native/binding.js";
import { loadAddon } from "../../../ts/native/loader.js";
import { nativeAbsence, theAddon } from "../../support/native.js";

/** The addon's file, quoted for a script. */
function addonPath(): string {
  const { place, platform } = loadAddon();
  const isLocal = place === "local build";
  const name = `cpersona-native${isLocal ? "." : "-"}${platform.triple}`;
  const require = createRequire(new URL("../../../package.json", import.meta.url));
  return JSON.stringify(require.resolve(isLocal ? `./crates/node/${name}.node` : name));
}

/** The entries that panic on purpose; an addon that is built to be published has none. */
function panics() {
  const { panicForTest, panicForTestAsync } = theAddon().binding;
  if (panicForTest === undefined || panicForTestAsync === undefined) throw new Error("a published addon");
  return { panicForTest, panicForTestAsync };
}

const absence =
  nativeAbsence === "" && theAddon().binding.panicForTest === undefined
    ? " (skipped, a published addon has no entries for tests)"
    : nativeAbsence;

describe.skipIf(absence !== "")(`bad calls into native code${absence}`, () => {
  it("turns a panic in a call into an error, and the process lives", () => {
    const { binding } = theAddon();
    expect(() => coded(panics().panicForTest)).toThrow(expect.objectContaining({ code: "internal" }));
    expect(binding.addonVersion()).toBeTypeOf("string");
  });

  it("turns a panic off the main thread into an error, and the process lives", async () => {
    const { binding } = theAddon();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => panics().panicForTestAsync()));
    for (const outcome of outcomes) {
      expect(() => settled(outcome)).toThrow(expect.objectContaining({ code: "internal" }));
    }
    expect(binding.addonVersion()).toBeTypeOf("string");
  });

  it("lets a process end by itself after a task", () => {
    const script = `require(${addonPath()}).panicForTestAsync().then((o) => console.log(o.code))`;
    const output = execFileSync(process.execPath, ["-e", script], {
      encoding: "utf8",
      timeout: 10_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(output).toBe("internal\n");
  });

  it("survives workers that are ended while their tasks run", async () => {
    const script = `
      const binding = require(${addonPath()});
      for (let i = 0; i < 50; i++) binding.panicForTestAsync();
      require("node:worker_threads").parentPort.postMessage("started");`;
    for (let round = 0; round < 5; round++) {
      const worker = new Worker(script, { eval: true, stderr: true });
      await once(worker, "message");
      await worker.terminate();
    }
    expect(theAddon().binding.addonVersion()).toBeTypeOf("string");
  });

  it("names the argument that breaks its rule", () => {
    const { core, binding } = theAddon();
    const lists = {
      keys: Float64Array.of(2),
      offsets: Uint32Array.of(0, 1),
      weights: Float64Array.of(1),
    };
    expect(() => core.fusion.rrf(lists, 0)).toThrow(
      expect.objectContaining({ code: "invalid_argument", field: "k" }),
    );
    const wrongType = () => coded(() => binding.fuseRrf([] as never, lists.offsets, lists.weights, 60));
    expect(wrongType).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });
});
