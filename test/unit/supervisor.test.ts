// Work in the background that fails: told once, tried again, asked for.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { storageFault } from "../../ts/errors.js";
import { Supervisor } from "../../ts/supervisor.js";
import { fakeClock } from "../support/clock.js";

let lines: string[] = [];
beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function failingTimes(times: number, error: Error): { work: () => Promise<void>; calls: () => number } {
  let calls = 0;
  const work = async (): Promise<void> => {
    calls++;
    if (calls <= times) throw error;
  };
  return { work, calls: () => calls };
}

describe("supervised work", () => {
  it("never rejects, is tried again until it succeeds, and is told once a spell", async () => {
    const clock = fakeClock();
    const supervisor = new Supervisor(clock);
    const { work, calls } = failingTimes(3, storageFault("storage_full"));
    const since = clock.now();
    await supervisor.run("counting", work);
    clock.advance(1000);
    expect(supervisor.standing()).toMatchObject([{ name: "counting", since, failures: 1 }]);
    expect(supervisor.standing()[0]?.reason).toContain("the disk is full");
    await vi.advanceTimersByTimeAsync(300_000);
    expect(calls()).toBe(4);
    expect(supervisor.standing()).toEqual([]);
    expect(lines.map((line) => line.replace(/^\S+ (\w+): /, "$1 ").trim())).toEqual([
      expect.stringMatching(/^warn counting stands still .*the disk is full/),
      "warn counting goes on",
    ]);
  });

  it("waits longer each time, five minutes at most, and shortly for a busy database", () => {
    const supervisor = new Supervisor(fakeClock());
    const full = Array.from({ length: 20 }, () => supervisor.failed("full", storageFault("storage_full")));
    for (const [i, pause] of full.slice(0, 5).entries()) {
      expect(pause).toBeGreaterThanOrEqual(0.75 * 5000 * 2 ** i);
      expect(pause).toBeLessThanOrEqual(1.25 * 5000 * 2 ** i);
    }
    expect(Math.max(...full)).toBeLessThanOrEqual(375_000);
    expect(supervisor.failed("busy", storageFault("storage_busy"))).toBeLessThan(1000);
  });

  it("is not started beside itself, nor before its next try is due", async () => {
    const supervisor = new Supervisor(fakeClock());
    let running = 0;
    const slow = async (): Promise<void> => {
      running++;
      await new Promise((resolve) => setTimeout(resolve, 100));
    };
    const both = Promise.all([supervisor.run("slow", slow), supervisor.run("slow", slow)]);
    await vi.advanceTimersByTimeAsync(100);
    await both;
    expect(running).toBe(1);
    const { work, calls } = failingTimes(1, new RangeError("broken"));
    await supervisor.run("broken", work);
    await supervisor.run("broken", work);
    expect(calls()).toBe(1);
    supervisor.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls()).toBe(1);
  });
});
