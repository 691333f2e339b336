// Several writers of one file: who waits, how long, and what a step leaves behind.

import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Database } from "../../../ts/store/database.js";
import { loadDriver } from "../../../ts/store/driver.js";
import { DRIVER } from "../../support/settings.js";
import { tempFolder } from "../../support/temp.js";

const opened: Database[] = [];
afterEach(() => {
  for (const database of opened.splice(0)) database.close();
});

function open(path: string): Database {
  const driver = loadDriver(DRIVER);
  const database = Database.open({
    path,
    driver,
    synchronous: "NORMAL",
    busyTimeoutMs: 5000,
    readOnly: false,
  });
  opened.push(database);
  return database;
}

/** Two connections to one file with a table `t`; the second is "another process". */
function two(): { ours: Database; other: Database } {
  const path = join(tempFolder(), "memory.db");
  const ours = open(path);
  ours.exec("CREATE TABLE t (n INTEGER)");
  return { ours, other: open(path) };
}

const numbers = (database: Database): unknown[] =>
  database
    .sql("SELECT n FROM t ORDER BY n")
    .all()
    .map((row) => row["n"]);
const insert = (database: Database, n: number): void => void database.sql("INSERT INTO t VALUES (?)").run(n);
const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("a write", () => {
  it("is committed when its promise resolves, and gives what its work gave", async () => {
    const { ours, other } = two();
    const write = ours.write(() => {
      insert(ours, 1);
      return "kept";
    });
    expect(await write).toBe("kept");
    expect(numbers(other)).toEqual([1]);
  });

  it("waits for another process while the event loop goes on, and tells how long", async () => {
    const { ours, other } = two();
    other.exec("BEGIN IMMEDIATE");
    const told: number[] = [];
    let turns = 0;
    const ticking = setInterval(() => turns++, 5);
    const write = ours.write(() => insert(ours, 1), { onWait: (ms) => told.push(ms) });
    await after(1300);
    expect(numbers(ours)).toEqual([]);
    other.exec("COMMIT");
    await write;
    clearInterval(ticking);
    expect(numbers(other)).toEqual([1]);
    expect(turns).toBeGreaterThan(20);
    expect(told.length).toBeGreaterThan(0);
  });

  it("is refused by name when its time is over, and nothing is half done", async () => {
    const { ours, other } = two();
    other.exec("BEGIN IMMEDIATE");
    await expect(ours.write(() => insert(ours, 1), { waitMs: 60 })).rejects.toMatchObject({
      code: "storage_busy",
    });
    other.exec("COMMIT");
    await ours.write(() => insert(ours, 2));
    expect(numbers(other)).toEqual([2]);
  });

  it("keeps the order of its process, background work last", async () => {
    const { ours, other } = two();
    other.exec("BEGIN IMMEDIATE");
    const order: string[] = [];
    const all = [
      ours.write(() => order.push("background"), { background: true }),
      ours.write(() => order.push("first")),
      ours.write(() => order.push("second")),
    ];
    await after(20);
    other.exec("COMMIT");
    await Promise.all(all);
    // The first that came was already waiting at the head when the others arrived.
    expect(order.filter((name) => name !== "background")).toEqual(["first", "second"]);
    expect(order.at(-1)).toBe("background");
  });

  it("undoes what its work did before it failed, and goes on with the next", async () => {
    const { ours } = two();
    const broken = ours.write(() => {
      insert(ours, 1);
      throw new RangeError("broken");
    });
    await expect(broken).rejects.toThrow(RangeError);
    await ours.write(() => insert(ours, 2));
    expect(numbers(ours)).toEqual([2]);
  });

  it("inside of a read is a fault of ours", async () => {
    const { ours } = two();
    await expect(ours.read(() => ours.write(() => insert(ours, 1)))).rejects.toMatchObject({
      code: "internal",
    });
    expect(() => ours.read(() => ours.transaction(() => insert(ours, 1)))).toThrow(/read/);
    expect(numbers(ours)).toEqual([]);
  });

  it("that comes after settling is refused; those before are done", async () => {
    const { ours, other } = two();
    other.exec("BEGIN IMMEDIATE");
    const early = ours.write(() => insert(ours, 1));
    const settled = ours.settle();
    other.exec("COMMIT");
    await settled;
    await early;
    await expect(ours.write(() => insert(ours, 2))).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(numbers(other)).toEqual([1]);
  });
});

describe("work in steps", () => {
  it("lets other processes write between two steps", async () => {
    const { ours, other } = two();
    const waits: number[] = [];
    let unit = 0;
    const work = ours.writeInSteps((hasTime) => {
      while (hasTime() && unit < 20_000) insert(ours, unit++);
      return unit < 20_000 ? "more" : "done";
    });
    for (let round = 1; round <= 5; round++) {
      await other.write(() => insert(other, -round), { onWait: (ms) => waits.push(ms) });
    }
    await work;
    expect(numbers(ours).length).toBe(20_005);
    expect(waits).toEqual([]);
  });

  it("ends early when it is told to, after a whole step", async () => {
    const { ours } = two();
    let unit = 0;
    const step = (): "more" => {
      insert(ours, unit++);
      insert(ours, unit++);
      return "more";
    };
    await ours.writeInSteps(step, { isStopped: () => unit >= 6 });
    expect(numbers(ours)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

describe("a read of one state", () => {
  it("does not see what others commit meanwhile", () => {
    const { ours, other } = two();
    ours.read(() => {
      expect(numbers(ours)).toEqual([]);
      insert(other, 1);
      expect(numbers(ours)).toEqual([]);
    });
    expect(numbers(ours)).toEqual([1]);
  });
});

describe("faults of the storage", () => {
  it("have a code of their own, by the driver's result code", () => {
    const { ours, other } = two();
    other.exec("BEGIN IMMEDIATE");
    expect(() => ours.transaction(() => insert(ours, 1))).toThrow(
      expect.objectContaining({ code: "storage_busy", message: expect.stringContaining("call again") }),
    );
    other.exec("COMMIT");
    ours.exec("PRAGMA max_page_count = 1");
    const fill = (): void => {
      for (let n = 0; n < 100_000; n++) insert(ours, n);
    };
    expect(() => ours.transaction(fill)).toThrow(expect.objectContaining({ code: "storage_full" }));
    ours.exec("PRAGMA max_page_count = 1000000");
    ours.transaction(() => insert(ours, 7));
    ours.exec("PRAGMA query_only = ON");
    expect(() => insert(ours, 8)).toThrow(expect.objectContaining({ code: "storage_read_only" }));
    expect(numbers(ours)).toEqual([7]);
  });
});
