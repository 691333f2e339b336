// Whatever the process would allow others, what it makes is for its owner alone.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { pullModel } from "../../../ts/models/pull.js";
import { writeChosenModel } from "../../../ts/settings/chosen-model.js";
import { takeProcessLock } from "../../../ts/store/process-lock.js";
import { openTestMemory } from "../../support/memory.js";
import { nativeAbsence } from "../../support/native.js";
import { DRIVER } from "../../support/settings.js";
import { tempFolder } from "../../support/temp.js";

/** `name: mode` of all below the folder that others may open. */
function openBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => ({ name, mode: statSync(join(folder, name)).mode & 0o777 }))
    .filter(({ mode }) => (mode & 0o077) !== 0)
    .map(({ name, mode }) => `${name}: ${mode.toString(8)}`);
}

describe.skipIf(process.platform === "win32").each([0o000, 0o022, 0o077])("with umask %s", (umask) => {
  it("no file of ours can be opened by others", async () => {
    const before = process.umask(umask);
    onTestFinished(() => void process.umask(before));
    const home = tempFolder();
    const path = join(home, "deep", "data", "memory.db");
    const { service } = await openTestMemory({
      path,
      settings: { CPERSONA_EMBEDDING_MODE: "static", CPERSONA_NATIVE: "auto" },
    });
    for (let i = 0; i < 20; i++) await service.store({ content: `note ${i} about the harbour` });
    await service.maintain();
    await service.recall({ query: "harbour" });
    const outputPath = join(home, "exports", "out.jsonl");
    await service.maintenance.exportMemories({ agentId: "", outputPath, embeddings: true });
    const models = join(home, "data", "models");
    writeChosenModel(models, "some-model");
    const lock = takeProcessLock(join(home, "locks", "one.lock"), DRIVER);
    await pullModel(
      { name: "m", from: "http://127.0.0.1:9/", again: false },
      {
        folder: models,
        mirror: "",
        lock: (at) => takeProcessLock(at, DRIVER),
        progress: () => {},
      },
    ).catch(() => {});
    const names = readdirSync(home, { recursive: true, encoding: "utf8" });
    for (const wanted of [/memory\.db-wal$/, /one\.lock$/, /chosen\.json$/, /out\.jsonl$/, /\.m\.lock$/])
      expect(
        names.some((name) => wanted.test(name)),
        String(wanted),
      ).toBe(true);
    if (nativeAbsence === "" && process.env["CPERSONA_NATIVE"] !== "off")
      for (const wanted of [/current$/, /lock$/, /head$/, /vectors$/])
        expect(names.some((name) => name.includes("memory.db.vectors") && wanted.test(name))).toBe(true);
    expect(openBelow(home)).toEqual([]);
    lock?.release();
  });
});
