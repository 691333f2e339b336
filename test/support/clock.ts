// A clock that moves only when a test says so.

export interface FakeClock {
  now(): number;
  advance(ms: number): void;
}

const START = Date.parse("2026-11-30T09:00:00Z");

export function fakeClock(start = START): FakeClock {
  let now = start;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
  };
}
