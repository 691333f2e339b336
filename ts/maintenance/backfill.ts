// Vectors that are missing, made in small steps: of stretches that a write left behind, and of whole records after
// an import, a change of the embedder or a backend that was away. One process of all that share the store does it
// at a time; what a step made is kept, whatever happens to the process.

import { type RecordKind, recordKey, recordOfKey } from "../domain/record.js";
import type { Embedder } from "../embedding/embedder.js";
import { describeError } from "../errors.js";
import { log } from "../log.js";
import { nextTurn } from "../next-turn.js";
import type { RecordStep } from "../store/record-steps.js";
import type { NewEmbedding } from "../store/store.js";
import { chunksOf } from "../text/chunks.js";
import type { Progress } from "./progress.js";

export interface BackfillParts {
  readonly embedder: Pick<Embedder, "state">;
  /** code of the present embedder's vectors; null while it is off or unknown */
  readonly embedderCode: () => number | null;
  /** Throws when the backend fails. Null for a text that has nothing to embed. */
  readonly embedTexts: (texts: readonly string[]) => Promise<(NewEmbedding | null)[]>;
  /** keys of records of which a stretch waits, ascending, behind `after` */
  readonly waitingKeys: (embedder: number, after: number, limit: number) => number[];
  /** among the next records below `before`, newest first; null starts with the newest */
  readonly idsWithoutVector: (
    kind: RecordKind,
    embedder: number,
    before: number | null,
    limit: number,
  ) => RecordStep;
  readonly countWithoutVector: (embedder: number, agentId: string | null) => PendingVectors;
  readonly texts: (keys: readonly number[]) => Map<number, string>;
  /** Writes the vectors of records whose text is still the one given; null marks one that has nothing to embed. */
  readonly putVectors: (
    embedder: number,
    rows: readonly { readonly key: number; readonly text: string; readonly embedding: NewEmbedding | null }[],
  ) => Promise<void>;
  /** Takes or keeps the right to work for `ms`; false when another process has it. */
  readonly lease: (ms: number) => Promise<boolean>;
  readonly release: () => Promise<void>;
  readonly changed: () => void;
  readonly maxRetries: number;
}

/** Records without a vector of the present embedder, and those that lack some of theirs. */
export interface PendingVectors {
  readonly memories: number;
  readonly episodes: number;
  readonly waiting: number;
}

const NOTHING_PENDING: PendingVectors = { memories: 0, episodes: 0, waiting: 0 };

export interface BackfillOutcome {
  readonly embedded: number;
  /** texts that have nothing to embed for this model */
  readonly blank: number;
  /** records that this process could not embed, so far */
  readonly failed: number;
  /** `done`: nothing is left; `busy`: another process is at it; `stopped`: the backend fails or the limit is reached */
  readonly end: "done" | "busy" | "stopped" | "off";
}

type Stage = "waiting" | RecordKind;
/** Records that can be found by some of their text go first: they are the newest. */
const STAGES: readonly Stage[] = ["waiting", "mem", "ep"];

/** How far a run has come. */
interface Place {
  readonly stages: Stage[];
  /** where to go on in the first of them: behind a key, or below an id for whole records; null at its start */
  from: number | null;
}

/** Records whose texts are read together. */
const STEP_RECORDS = 64;
/** Blocks whose vectors are written together: so much is made again after a kill. */
const WRITE_BLOCKS = 64;
const LEASE_MS = 15_000;

export class Backfill {
  readonly #parts: BackfillParts;
  /** records that failed, with the number of attempts */
  readonly #attempts = new Map<number, number>();
  #running: Promise<BackfillOutcome> | undefined;
  /** the present run has found something to do */
  #isFilling = false;
  /** a run that starts when the present one ends */
  #next: Promise<BackfillOutcome> | undefined;
  #isClosed = false;

  constructor(parts: BackfillParts) {
    this.#parts = parts;
  }

  /** Records that wait for vectors of the present embedder. */
  pending(agentId: string | null = null): PendingVectors {
    const code = this.#parts.embedderCode();
    return code === null ? NOTHING_PENDING : this.#parts.countWithoutVector(code, agentId);
  }

  /** Whether records without a vector have been found, and are not done yet. */
  get isFilling(): boolean {
    return this.#isFilling;
  }

  /** Whether a record has no vector. Looks at the store in small steps, as long as it finds none. */
  async hasGaps(): Promise<boolean> {
    const code = this.#parts.embedderCode();
    if (code === null) return false;
    for (const kind of ["mem", "ep"] as const) {
      for (let before: number | null = null; !this.#isClosed; ) {
        const { ids, next }: RecordStep = this.#parts.idsWithoutVector(kind, code, before, 1);
        if (ids.length > 0) return true;
        if (next === null) break;
        before = next;
        await nextTurn();
      }
    }
    return false;
  }

  /** Fills at most `limit` records, after a run that is under way: that may have passed what came meanwhile. */
  async run(limit = Number.POSITIVE_INFINITY, progress: Progress | null = null): Promise<BackfillOutcome> {
    while (this.#running !== undefined) await this.#running.catch(() => {});
    return this.#start(STAGES, limit, progress);
  }

  /**
   * Only the stretches that writes left behind; does not read the whole store. Called during a run it comes after
   * that, and takes up what was written meanwhile.
   */
  runWaiting(): Promise<BackfillOutcome> {
    this.#next ??= (this.#running ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        // A whole run that came first takes these up too.
        return this.#running ?? this.#start(["waiting"], Number.POSITIVE_INFINITY, null);
      });
    return this.#next;
  }

  #start(stages: readonly Stage[], limit: number, progress: Progress | null): Promise<BackfillOutcome> {
    this.#running = this.#run(stages, limit, progress).finally(() => {
      this.#running = undefined;
      this.#isFilling = false;
    });
    return this.#running;
  }

  async #run(stages: readonly Stage[], limit: number, progress: Progress | null): Promise<BackfillOutcome> {
    const totals = { embedded: 0, blank: 0 };
    if (this.#parts.embedder.state().status === "off") return this.#outcome(totals, "off");
    if (this.#isClosed) return this.#outcome(totals, "stopped");
    if ((await this.#code()) === null) return this.#outcome(totals, "stopped");
    // Counting reads the whole store: only for somebody who wants to know.
    const { memories, episodes, waiting } = progress === null ? NOTHING_PENDING : this.pending();
    const total = Math.min(limit, memories + episodes + waiting);
    try {
      if (!(await this.#parts.lease(LEASE_MS))) return this.#outcome(totals, "busy");
      const place: Place = { stages: [...stages], from: null };
      for (let done = 0; done < limit && !this.#isClosed; ) {
        if (place.stages.length === 0) return this.#outcome(totals, "done");
        const size = await this.#step(place, Math.min(STEP_RECORDS, limit - done), totals);
        if (size === null) return this.#outcome(totals, "stopped");
        done += size;
        progress?.(Math.min(done, total), total);
      }
      return this.#outcome(totals, "stopped");
    } finally {
      await this.#parts.release();
    }
  }

  #outcome(totals: { embedded: number; blank: number }, end: BackfillOutcome["end"]): BackfillOutcome {
    return { ...totals, failed: this.#attempts.size, end };
  }

  /** A server tells its model with its first answer. */
  async #code(): Promise<number | null> {
    const known = this.#parts.embedderCode();
    if (known !== null) return known;
    await this.#parts.embedTexts(["memory"]).catch(() => {});
    return this.#parts.embedderCode();
  }

  /** Fills the next records behind `place` and moves it; how many they were. Null when the backend fails as a whole. */
  async #step(
    place: Place,
    size: number,
    totals: { embedded: number; blank: number },
  ): Promise<number | null> {
    const code = this.#parts.embedderCode();
    if (code === null) return null;
    const found = this.#nextKeys(place, code, size);
    if (found.length === 0) {
      await nextTurn();
      return 0;
    }
    const keys = found.filter((key) => !this.#isGivenUp(key));
    const texts = this.#parts.texts(keys);
    const rows = keys.flatMap((key) => {
      const text = texts.get(key);
      return text === undefined ? [] : [{ key, text }];
    });
    let made = 0;
    for (const group of groupsOf(rows)) {
      if (this.#isClosed || !(await this.#parts.lease(LEASE_MS))) return null;
      const filled = await this.#embed(group);
      if (filled === null) return null;
      made += filled.length;
      await this.#parts.putVectors(code, filled);
      const embedded = filled.filter(({ embedding }) => embedding !== null).length;
      totals.embedded += embedded;
      totals.blank += filled.length - embedded;
      if (embedded > 0) this.#parts.changed();
      await nextTurn();
    }
    // A backend that makes none of a whole step would be asked for every row of the store, one by one.
    return made === 0 && rows.length > 0 ? null : found.length;
  }

  /** None where a step finds none; the place is behind it then too. */
  #nextKeys(place: Place, code: number, size: number): number[] {
    const [stage] = place.stages as [Stage];
    const { ids, next } =
      stage === "waiting"
        ? this.#waitingStep(code, place.from, size)
        : this.#parts.idsWithoutVector(stage, code, place.from, size);
    place.from = next;
    if (next === null) place.stages.shift();
    if (stage === "waiting") return ids;
    this.#isFilling ||= ids.length > 0;
    return ids.map((id) => recordKey(stage, id));
  }

  #waitingStep(code: number, from: number | null, size: number): RecordStep {
    const keys = this.#parts.waitingKeys(code, from ?? -1, size);
    return { ids: keys, next: keys.at(-1) ?? null };
  }

  /** Halves a batch that fails until the text at fault stands alone. */
  async #embed(
    rows: readonly Row[],
  ): Promise<{ key: number; text: string; embedding: NewEmbedding | null }[] | null> {
    try {
      const embeddings = await this.#parts.embedTexts(rows.map(({ text }) => text));
      return rows.map((row, i) => ({ ...row, embedding: embeddings[i] ?? null }));
    } catch (error) {
      const state = this.#parts.embedder.state();
      if (this.#isClosed || (state.status === "failing" && state.reason !== "misconfigured")) return null;
      const [only] = rows;
      if (rows.length === 1 && only !== undefined) {
        const attempts = (this.#attempts.get(only.key) ?? 0) + 1;
        this.#attempts.set(only.key, attempts);
        const { kind, id } = recordOfKey(only.key);
        log(
          attempts < this.#parts.maxRetries ? "debug" : "warn",
          `no vector for ${kind}:${id}, attempt ${attempts}: ${describeError(error)}`,
        );
        return [];
      }
      const middle = Math.ceil(rows.length / 2);
      const first = await this.#embed(rows.slice(0, middle));
      const second = first === null ? null : await this.#embed(rows.slice(middle));
      return first === null || second === null ? null : [...first, ...second];
    }
  }

  #isGivenUp(key: number): boolean {
    return (this.#attempts.get(key) ?? 0) >= this.#parts.maxRetries;
  }

  /** Ends after the step that is running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running?.catch(() => {});
  }
}

interface Row {
  readonly key: number;
  readonly text: string;
}

/** The rows in groups of about `WRITE_BLOCKS` blocks. */
function groupsOf(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  let blocks = WRITE_BLOCKS;
  for (const row of rows) {
    const more = chunksOf(row.text).length;
    if (blocks + more > WRITE_BLOCKS) {
      groups.push([]);
      blocks = 0;
    }
    groups.at(-1)?.push(row);
    blocks += more;
  }
  return groups;
}
