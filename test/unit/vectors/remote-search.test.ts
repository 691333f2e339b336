import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type RemoteQuery, searchRemotely } from "../../../ts/vectors/remote-search.js";

interface Asked {
  readonly limit: number;
  readonly timeoutMs: number;
}

/** A service with memories 1 to `rows`, the nearest first; `visible` says which the scope may see. */
function service(rows: number, more: Partial<RemoteQuery> = {}) {
  const asked: Asked[] = [];
  const looked: number[] = [];
  const remote = {
    search: async (_agent: string, _query: string, { limit, timeoutMs }: Asked) => {
      asked.push({ limit, timeoutMs });
      return Array.from({ length: Math.min(limit, rows) }, (_, i) => ({
        ref: `mem:${i + 1}`,
        score: 1 - i / rows,
      }));
    },
  };
  const query: RemoteQuery = {
    agentId: "a",
    query: "q",
    limit: 10,
    scopeRows: rows,
    agentRows: rows,
    floor: -1,
    visible: (keys) => {
      looked.push(...keys);
      return keys;
    },
    ...more,
  };
  return { remote, query, asked, looked };
}

const ids = ({ hits }: { hits: readonly { key: number }[] }): number[] => hits.map(({ key }) => key / 2);

describe("a search at the vector service", () => {
  it("asks once when everything may be seen", async () => {
    const { remote, query, asked } = service(100);
    const found = await searchRemotely(query, remote, 1000);
    expect(ids(found)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(asked.map(({ limit }) => limit)).toEqual([10]);
  });

  it("asks for more until the list is full, looking at each record once", async () => {
    const isOurs = (key: number): boolean => key / 2 > 600;
    const { remote, query, asked, looked } = service(1000, {
      visible: (keys) => {
        looked.push(...keys);
        return new Set([...keys].filter(isOurs));
      },
    });
    const found = await searchRemotely(query, remote, 1000);
    expect(ids(found)).toEqual([601, 602, 603, 604, 605, 606, 607, 608, 609, 610]);
    expect(asked.map(({ limit }) => limit)).toEqual([10, 20, 40, 80, 160, 320, 640]);
    expect(new Set(looked).size).toBe(looked.length);
  });

  it("asks deep at once where the scope is a small part of the agent's rows", async () => {
    const { remote, query, asked } = service(1000, { scopeRows: 50 });
    await searchRemotely(query, remote, 1000);
    expect(asked.map(({ limit }) => limit)).toEqual([200]);
  });

  it("ends when the service has no more", async () => {
    const { remote, query, asked } = service(25, { visible: () => new Set([50]) });
    expect(ids(await searchRemotely(query, remote, 1000))).toEqual([25]);
    expect(asked).toHaveLength(3);
  });

  it("says that it is short when the service gave less than there is", async () => {
    const { remote, query } = service(500, { agentRows: 900, scopeRows: 40, visible: () => new Set([50]) });
    expect(await searchRemotely(query, remote, 1000)).toMatchObject({ isShort: true, failure: null });
    const { remote: all, query: small } = service(25, { scopeRows: 1, visible: () => new Set([50]) });
    expect(await searchRemotely(small, all, 1000)).toMatchObject({ isShort: false });
  });

  it("is bounded against a service that never ends", async () => {
    const { remote, query, asked } = service(1_000_000, { visible: () => new Set() });
    expect((await searchRemotely(query, remote, 60_000)).hits).toEqual([]);
    expect(asked.at(-1)?.limit).toBe(32_768);
  });

  it("leaves out what is no ref and what lies below the floor", async () => {
    const { query } = service(10, { floor: 0.5 });
    const results = [
      { ref: "mem:1", score: 0.9 },
      { ref: "node:7", score: 0.8 },
      { ref: "ep:3", score: 0.8 },
      { ref: "mem:9", score: 0.8 },
      { ref: "mem:5", score: 0.4 },
    ];
    const found = await searchRemotely(query, { search: async () => results }, 1000);
    expect(found.hits.map(({ key }) => key)).toEqual([2, 18, 7]);
  });

  it("keeps what it has when the service fails on the way", async () => {
    const { remote, query } = service(100, { visible: (keys) => new Set([...keys].filter((k) => k === 4)) });
    let calls = 0;
    const failing: typeof remote = {
      search: async (...args) => {
        if (calls++ > 0) throw new Error("gone");
        return remote.search(...args);
      },
    };
    const found = await searchRemotely(query, failing, 1000);
    expect(ids(found)).toEqual([2]);
    expect(found.failure).toBe("gone");
  });

  it("has one deadline for all its questions", async () => {
    const { remote, query, asked } = service(1000, { visible: () => new Set() });
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const slow: typeof remote = {
      search: async (...args) => {
        vi.advanceTimersByTime(30);
        return remote.search(...args);
      },
    };
    const found = await searchRemotely(query, slow, 50);
    expect(found.failure).toBe("no full list in 50 ms");
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([50, 20]);
  });
});
