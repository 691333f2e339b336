import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openMemory } from "../../ts/open-memory.js";
import { MAIN, serverEnvironment } from "../support/client.js";
import { startEmbedStub } from "../support/embed-stub.js";
import { startRaw } from "../support/process.js";
import { tempFolder } from "../support/temp.js";

const STATIC = { CPERSONA_EMBEDDING_MODE: "static" };

function run(databasePath: string, ...args: string[]) {
  const env = serverEnvironment(databasePath, STATIC);
  return spawnSync(process.execPath, [MAIN, ...args], { env, encoding: "utf8", timeout: 30_000 });
}

async function storeOf(...contents: string[]): Promise<string> {
  const databasePath = join(tempFolder(), "memory.db");
  const memory = await openMemory({ databasePath, environment: serverEnvironment(databasePath, STATIC) });
  for (const content of contents) await memory.store({ content });
  await memory.close();
  return databasePath;
}

describe("doctor", () => {
  it("tells what runs, and finds nothing to do in a healthy store", async () => {
    const { status, stdout } = run(await storeOf("the umbrella is red"), "doctor");
    for (const what of ["version", "native", "database", "sqlite", "embedder"]) {
      expect(stdout).toMatch(new RegExp(`^\\S\\S {2}${what} `, "m"));
    }
    expect(stdout).toContain("1 memories, 0 episodes");
    expect(stdout).not.toContain("\u001b[");
    expect(status).toBe(0);
  });

  it("names what is wrong with a database that it cannot open, and fails", () => {
    const folder = tempFolder();
    const path = join(folder, "memory.db");
    writeFileSync(path, "this is not a database, whatever its name says".repeat(100));
    const { status, stdout } = run(path, "doctor", "--json");
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ level: "problem", what: "database" }),
    );
    expect(status).toBe(1);
  });

  it("says that the embedder does not work, and what to do", () => {
    const cases = [
      [
        { CPERSONA_EMBEDDING_MODE: "http", CPERSONA_EMBEDDING_URL: "http://127.0.0.1:9/embed" },
        /cannot be reached/,
      ],
      [{ CPERSONA_EMBEDDING_MODE: "onnx", CPERSONA_EMBEDDING_MODEL: "e5" }, /cpersona-native model pull e5/],
    ] as const;
    for (const [settings, advice] of cases) {
      const env = serverEnvironment(join(tempFolder(), "memory.db"), settings);
      const { status, stdout } = spawnSync(process.execPath, [MAIN, "doctor"], { env, encoding: "utf8" });
      expect(stdout).toMatch(/^!! {2}embedder/m);
      expect(stdout).toMatch(advice);
      expect(status).toBe(1);
    }
  });

  it("says that the vector service does not work where the embedder does", async () => {
    const stub = await startEmbedStub();
    onTestFinished(() => stub.close());
    stub.statusOf.search = 500;
    const env = serverEnvironment(join(tempFolder(), "memory.db"), {
      CPERSONA_EMBEDDING_MODE: "http",
      CPERSONA_EMBEDDING_URL: stub.url,
      CPERSONA_VECTOR_SEARCH_MODE: "remote",
    });
    const sick = startRaw({ env, args: ["doctor"] });
    await sick.exit;
    expect(sick.stdout()).toMatch(/^ok {2}embedder +http, ready$/m);
    expect(sick.stdout()).toMatch(/^!! {2}vectors +vector service: \/search: .*500/m);
    stub.statusOf.search = 200;
    const well = startRaw({ env, args: ["doctor"] });
    await well.exit;
    expect(well.stdout()).toMatch(/^ok {2}vectors/m);
  });

  it("says which folder cannot be written", () => {
    const folder = join(tempFolder(), "file");
    mkdirSync(folder);
    const { status, stdout } = run(folder, "doctor");
    expect(stdout).toMatch(/^!! {2}database/m);
    expect(status).toBe(1);
  });
});

describe("recall --explain", () => {
  it("shows lists, parts of the score, the gate and the time of each step", async () => {
    const path = await storeOf("the umbrella is red", "bananas are yellow");
    const { stdout } = run(path, "recall", "--explain", "red umbrella");
    expect(stdout).toMatch(/mem:1 .*memories 1.*the umbrella is red/);
    expect(stdout).toMatch(/the gate was opened by \w+/);
    expect(stdout).toMatch(/words \d+ rows [\d.]+ ms -> wait for vectors \d+ rows [\d.]+ ms -> fuse/);
  });

  it("says that the gate stayed closed", async () => {
    const path = await storeOf("the umbrella is red");
    const { stdout } = run(path, "recall", "--explain", "quarterly revenue of the subsidiary");
    expect(stdout).toContain("the gate stayed closed");
  });
});
