// Hook and server compiled from what an earlier run left behind: faster, and never different.

import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { expect, it } from "vitest";
import { serverEnvironment } from "../support/client.js";
import { runHook } from "../support/hook.js";
import { openTestMemory } from "../support/memory.js";
import { startRaw } from "../support/process.js";
import { ROOT } from "../support/root.js";
import { tempFolder } from "../support/temp.js";

/** An installed package of its own, so that no other test writes into it. */
function aPackage(): { main: string; compiled: string } {
  const root = tempFolder();
  cpSync(join(ROOT, "package.json"), join(root, "package.json"));
  cpSync(join(ROOT, "assets"), join(root, "assets"), { recursive: true });
  mkdirSync(join(root, "dist"));
  cpSync(join(ROOT, "dist", "bin"), join(root, "dist", "bin"), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"), "junction");
  return { main: join(root, "dist", "bin", "main.js"), compiled: join(root, "dist", "compiled") };
}

/** Further runs give what the first did: from what that kept, and when it is cut, which is made good. */
async function expectSame(
  first: unknown,
  run: () => Promise<unknown>,
  compiled: string,
  leastBytes: number,
): Promise<void> {
  const [name = ""] = readdirSync(compiled);
  const file = join(compiled, name);
  const kept = statSync(file).mtimeMs;
  expect(await run()).toEqual(first);
  expect(statSync(file).mtimeMs).toBe(kept);
  writeFileSync(file, readFileSync(file).subarray(0, 1000));
  expect(await run()).toEqual(first);
  expect(statSync(file).size).toBeGreaterThan(leastBytes);
  expect(readdirSync(compiled)).toEqual([name]);
}

// Node 22 and later keep compiled code themselves.
const keepsItself = "enableCompileCache" in module;

it.skipIf(keepsItself)("a hook is the same with and without what V8 kept, and with damage", async () => {
  const { service, path } = await openTestMemory({ settings: { CPERSONA_EMBEDDING_MODE: "static" } });
  await service.store({ content: "the parser rewrite landed on staging in march" });
  await service.close();
  const { main, compiled } = aPackage();
  const hook = async () => {
    const input = { prompt: "when did the parser rewrite land on staging?" };
    const { code, stdout, stderr } = await runHook(path, input, {}, [], main);
    return { code, stdout, stderr };
  };
  const first = await hook();
  expect(first).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("landed on staging"),
    stderr: "",
  });
  await expectSame(first, hook, compiled, 10_000);
});

it.skipIf(keepsItself)("a server is the same with and without what V8 kept, and with damage", async () => {
  const { main, compiled } = aPackage();
  const path = join(tempFolder(), "memory.db");
  const session = async (): Promise<unknown> => {
    const env = serverEnvironment(path, { CPERSONA_EMBEDDING_MODE: "static", CPERSONA_NATIVE: "off" });
    const server = startRaw({ env, main });
    await server.initialize();
    server.send({ method: "notifications/initialized" });
    const args = { agent_id: "a", content: "the parser rewrite landed on staging" };
    server.send({ id: 7, method: "tools/call", params: { name: "store", arguments: args } });
    await server.answer(7);
    server.send({ id: 8, method: "tools/list" });
    const { result } = await server.answer(8);
    server.child.stdin.end();
    expect(await server.exit).toEqual({ code: 0, signal: null });
    expect(server.stderr()).toBe("");
    return result;
  };
  const first = await session();
  await expectSame(first, session, compiled, 100_000);
});
