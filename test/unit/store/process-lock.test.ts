import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { takeProcessLock } from "../../../ts/store/process-lock.js";
import { ROOT } from "../../support/root.js";
import { DRIVER } from "../../support/settings.js";
import { tempFolder } from "../../support/temp.js";

const MODULE = join(ROOT, "dist", "store", "process-lock.js");

describe("the lock between processes", () => {
  it("is held by one at a time", () => {
    const path = join(tempFolder(), "folder", ".x.lock");
    const lock = takeProcessLock(path, DRIVER);
    expect(lock).not.toBeNull();
    expect(takeProcessLock(path, DRIVER)).toBeNull();
    lock?.release();
    const again = takeProcessLock(path, DRIVER);
    expect(again).not.toBeNull();
    again?.release();
  });

  it("is gone with a process that is killed", async () => {
    const path = join(tempFolder(), ".x.lock");
    const script = `
      const { takeProcessLock } = await import(${JSON.stringify(new URL(`file://${MODULE}`).href)});
      globalThis.kept = takeProcessLock(${JSON.stringify(path)}, ${JSON.stringify(DRIVER)});
      console.log(kept !== null);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [said] = await once(child.stdout.setEncoding("utf8"), "data");
    expect(String(said).trim()).toBe("true");
    expect(takeProcessLock(path, DRIVER)).toBeNull();
    child.kill("SIGKILL");
    await once(child, "exit");
    const lock = takeProcessLock(path, DRIVER);
    expect(lock).not.toBeNull();
    lock?.release();
  });
});
