// Models as people meet them: pulled with the command, chosen, and used by a server.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { MAIN, serverEnvironment, startServer } from "../support/client.js";
import { type FileServer, sha256, startFileServer } from "../support/file-server.js";
import {
  hasOnnxRuntime,
  TINY_CONFIG,
  tinyModel,
  tinyTokenizer,
  writeTinyModel,
} from "../support/onnx-model.js";
import { tempFolder } from "../support/temp.js";

const MODEL = tinyModel();
const FILES = {
  "config.json": JSON.stringify(TINY_CONFIG),
  "tokenizer.json": JSON.stringify(tinyTokenizer()),
  "model.onnx": MODEL,
};

let folder: string;
let server: FileServer;

beforeEach(async () => {
  folder = join(tempFolder(), "models");
  const manifest = Object.entries(FILES).map(([path, content]) => {
    return { path, bytes: Buffer.from(content).length, sha256: sha256(content) };
  });
  server = await startFileServer({
    ...Object.fromEntries(Object.entries(FILES).map(([path, content]) => [`/${path}`, content])),
    "/manifest.json": JSON.stringify({ files: manifest }),
  });
});

/** `null` takes the default mode, which a chosen model changes. */
function environment(mode: string | null): Record<string, string> {
  const { CPERSONA_EMBEDDING_MODE: _, ...rest } = serverEnvironment(join(tempFolder(), "memory.db"), {
    CPERSONA_MODEL_DIR: folder,
  });
  return mode === null ? rest : { ...rest, CPERSONA_EMBEDDING_MODE: mode };
}

function start(args: readonly string[], mode: string | null = null): ChildProcess {
  const child = spawn(process.execPath, [MAIN, "model", ...args], {
    env: environment(mode),
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function run(args: readonly string[], mode: string | null = null) {
  const child = start(args, mode);
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (more: string) => {
      text += more;
    });
  const [status] = await once(child, "close");
  return { status, text };
}

const pull = ["pull", "own"];

describe("cpersona-native model", () => {
  it("pulls, lists, chooses and takes the choice back", async () => {
    const pulled = await run([...pull, "--from", server.url]);
    expect(pulled).toMatchObject({ status: 0, text: expect.stringContaining("model use own") });
    expect((await run(["list"])).text).toMatch(/^own +here$/m);
    const used = await run(["use", "own"]);
    expect(used.text).toContain("CPERSONA_EMBEDDING_MODE=onnx\n  CPERSONA_EMBEDDING_MODEL=own");
    expect(used.text).not.toContain("wins over it");
    expect((await run(["list"])).text).toMatch(/^own +in use$/m);
    expect((await run(["use", "own"], "static")).text).toContain("CPERSONA_EMBEDDING_MODE=static");
    await run(["use", "static"]);
    expect((await run(["list"])).text).toMatch(/^own +here$/m);
  });

  it("says in one line what went wrong", async () => {
    expect(await run(["use", "own"])).toMatchObject({
      status: 1,
      text: expect.stringMatching(/must be a model that is here/),
    });
    expect(await run(["pull", "unheard-of"])).toMatchObject({
      status: 1,
      text: expect.stringMatching(/--from/),
    });
    server.files.set("/model.onnx", Buffer.alloc(MODEL.length));
    const { status, text } = await run([...pull, "--from", server.url]);
    expect(status).toBe(1);
    expect(text).toMatch(/^cpersona-native: model\.onnx: the file has another hash[^\n]*\n$/);
  });

  it("goes on after a puller was killed, whose lock is gone with it", async () => {
    server.intercept = ({ url, headers }, response) => {
      if (url !== "/model.onnx" || headers.range !== undefined) return false;
      response.writeHead(200, { "content-length": MODEL.length });
      response.write(MODEL.subarray(0, 64));
      return true;
    };
    const killed = start([...pull, "--from", server.url]);
    const part = join(folder, ".own.part", "model.onnx.part");
    await expect.poll(() => existsSync(part) && readFileSync(part).length, { timeout: 20_000 }).toBe(64);
    const second = await run([...pull, "--from", server.url]);
    expect(second).toMatchObject({
      status: 1,
      text: expect.stringContaining("another process is pulling own"),
    });
    killed.kill("SIGKILL");
    await once(killed, "close");
    expect(await run([...pull, "--from", server.url])).toMatchObject({ status: 0 });
    expect(server.requests.at(-1)).toMatchObject({ path: "/model.onnx", range: "bytes=64-" });
    expect(readFileSync(join(folder, "own", "model.onnx"))).toEqual(MODEL);
  });
});

describe.skipIf(!hasOnnxRuntime)("a server in mode onnx", () => {
  const settings = () => ({
    CPERSONA_EMBEDDING_MODE: "onnx",
    CPERSONA_EMBEDDING_MODEL: "own",
    CPERSONA_MODEL_DIR: folder,
  });
  // Looks into /proc for the child.
  it.skipIf(process.platform !== "linux")(
    "embeds, and is gone with its model process, whether it is closed or killed",
    async () => {
      mkdirSync(dirname(folder), { recursive: true });
      writeTinyModel(join(folder, "own"));
      for (const end of ["close", "kill"]) {
        const memory = await startServer({ env: settings() });
        const stored = await memory.call("store", { message: { content: "red red red" } });
        expect(stored).toMatchObject({ result: "stored", embedded: true });
        const child = childOf(memory.pid);
        expect(isAlive(child)).toBe(true);
        if (end === "close") await memory.close();
        else process.kill(memory.pid, "SIGKILL");
        await expect.poll(() => isAlive(child), { timeout: 10_000 }).toBe(false);
      }
    },
  );

  it.skipIf(process.platform !== "linux")(
    "lets an unused model process go, and starts it again",
    async () => {
      writeTinyModel(join(folder, "own"));
      const memory = await startServer({ env: { ...settings(), CPERSONA_EMBEDDING_IDLE_SECS: "1" } });
      await memory.call("store", { message: { content: "red red red" } });
      const first = childOf(memory.pid);
      await expect.poll(() => isAlive(first), { timeout: 10_000 }).toBe(false);
      const stored = await memory.call("store", { message: { content: "blue blue blue" } });
      expect(stored).toMatchObject({ result: "stored", embedded: true });
      expect(childOf(memory.pid)).not.toBe(first);
    },
  );

  it("starts without its model, stores, finds by words, and says what to run", async () => {
    const memory = await startServer({ env: settings() });
    const stored = await memory.call("store", { message: { content: "the umbrella is red" } });
    expect(stored).toMatchObject({ result: "stored", embedded: false });
    const { messages, advisory } = await memory.call("recall", { query: "umbrella" });
    expect(messages).toHaveLength(1);
    expect(JSON.stringify(advisory)).toMatch(/cpersona-native model pull own/);
  });
});

function childOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  expect(children).toHaveLength(1);
  return Number(children[0]);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
