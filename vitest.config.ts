// One project for what touches no database, and one per SQLite driver that works on this Node for the rest.
//   CPERSONA_TEST_DRIVER=node:sqlite  runs the database tests on that driver only
//   CPERSONA_NATIVE=off               runs them on the TypeScript twins

import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

const require = createRequire(import.meta.url);

const WITHOUT_DATABASE = [
  "test/architecture.test.ts",
  "test/contract/coverage.test.ts",
  "test/unit/*.test.ts",
  "test/unit/{domain,embedding,intake,mcp,models,native,recall,response}/**/*.test.ts",
];

function works(driver: string): boolean {
  try {
    if (driver === "node:sqlite") return require("node:sqlite") !== undefined;
    const Database = require(driver) as new (path: string) => { close(): void };
    new Database(":memory:").close();
    return true;
  } catch {
    return false;
  }
}

const wanted = process.env["CPERSONA_TEST_DRIVER"];
const drivers = ["better-sqlite3", "node:sqlite"]
  .filter((driver) => (wanted === undefined || wanted === "" ? works(driver) : driver === wanted))
  .map((driver) => ({ driver, name: driver.replace("node:", "node-") }));

if (drivers.length === 0)
  throw new Error(`no SQLite driver works on Node ${process.versions.node}: run npm rebuild better-sqlite3`);

export default defineConfig({
  test: {
    globalSetup: ["test/support/build.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    retry: 0,
    // Defaults are tested as for somebody new: without the embedder that a developer chose.
    env: { XDG_DATA_HOME: join(tmpdir(), "cpersona-test-nobody") },
    pool: "forks",
    // Half of the time is waiting for server processes.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      { extends: true, test: { name: "plain", include: WITHOUT_DATABASE } },
      ...drivers.map(({ driver, name }) => ({
        extends: true as const,
        test: {
          name,
          include: ["test/**/*.test.ts"],
          exclude: WITHOUT_DATABASE,
          env: { CPERSONA_TEST_DRIVER: driver },
        },
      })),
    ],
  },
});
