// Keeps a vector service level with the store: new and changed texts are pushed, deleted ones removed. What
// fails stays a difference between the two and is made good later, by one process of all that share the store.

import { formatRef, type RecordKind, recordKey, recordOfKey } from "../domain/record.js";
import { EmbeddingError } from "../embedding/failure.js";
import { describeError, MemoryError } from "../errors.js";
import { log } from "../log.js";
import { nextTurn } from "../next-turn.js";
import type { RecordStep } from "../store/record-steps.js";
import type { RecordText } from "../store/records.js";
import type { RemoteEntry, RemoteRows } from "../store/remote-rows.js";
import { within } from "./progress.js";

/** The service, see `embedding/remote-index.ts`. Every call rejects with `embedding_failed`. */
export interface RemoteWrites {
  index(agentId: string, items: readonly { readonly ref: string; readonly text: string }[]): Promise<void>;
  remove(agentId: string, refs: readonly string[]): Promise<void>;
  purge(agentId: string): Promise<void>;
  close(): void;
}

export interface RemotePushParts {
  readonly service: RemoteWrites;
  readonly rows: RemoteRows;
  /** label of the model behind the service; null while it is not known */
  readonly model: () => string | null;
  /** Takes or keeps the right to work for `ms`; false when another process has it. */
  readonly lease: (ms: number) => Promise<boolean>;
  readonly release: () => Promise<void>;
  /** attempts in this process before a text that the service refuses is left out */
  readonly maxRetries: number;
}

/** `busy`: another process is at it; `stopped`: the service fails */
export type RemotePushEnd = "done" | "busy" | "stopped";

/** Texts of one request: CPersona sends 128, and its own server takes 100. */
const CHUNK = 64;
const LEASE_MS = 15_000;
/** A quick service is still told what was stored just before the end. */
const CLOSE_MS = 150;

export class RemotePush {
  readonly #parts: RemotePushParts;
  /** records that the service refused, with the number of attempts */
  readonly #refused = new Map<number, number>();
  /** texts of the next request: fewer after one that was too much for the time limit */
  #chunk = CHUNK;
  /** agents whose rows the service lost, as far as this process has noticed */
  readonly #lost = new Set<string>();
  /** the model that this process has seen behind the service */
  #model: string | null = null;
  #running: Promise<RemotePushEnd> | undefined;
  /** records of the next request, while one is running */
  readonly #queued = new Set<number>();
  #sending: Promise<boolean> = Promise.resolve(true);
  /** records that this process stored and the service has not confirmed */
  readonly #unconfirmed = new Set<number>();
  /** the request that takes the queued ones; undefined while there are none */
  #next: Promise<boolean> | undefined;
  #isClosed = false;

  constructor(parts: RemotePushParts) {
    this.#parts = parts;
  }

  /** Records that the service has not confirmed. */
  pending(agentId: string | null = null): number {
    return this.#parts.rows.countUnsent(agentId);
  }

  /**
   * Pushes a record as soon as the request before is done; what comes meanwhile goes together. False when the
   * service does not take it; then a later run does. Never rejects.
   */
  async push(key: number): Promise<boolean> {
    // Its text may be another than the one that was refused.
    this.#refused.delete(key);
    this.#queued.add(key);
    this.#unconfirmed.add(key);
    this.#next ??= this.#sending.then(() => {
      this.#next = undefined;
      this.#sending = this.#tried(() => this.#sendQueued());
      return this.#sending;
    });
    return (await this.#next) && !this.#refused.has(key);
  }

  async #sendQueued(): Promise<void> {
    const keys = [...this.#queued];
    this.#queued.clear();
    for (let from = 0; from < keys.length; from += CHUNK)
      await this.#send(this.#parts.rows.items(keys.slice(from, from + CHUNK)));
  }

  /** Whether the service lacks something that was stored by this process. */
  get isBehind(): boolean {
    return this.#unconfirmed.size > 0;
  }

  /** Removes deleted records now, as far as the service answers. */
  async withdraw(keys: readonly number[]): Promise<boolean> {
    for (const key of keys) this.#unconfirmed.delete(key);
    return this.#tried(() => this.#removeEntries(this.#parts.rows.stale(keys)));
  }

  async #tried(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!this.#isClosed) log("debug", `the vector service is told later: ${describeError(error)}`);
      return false;
    }
  }

  /** The service knows nothing of an agent of whom it confirmed records: it has lost them. */
  async noticeLoss(agentId: string): Promise<void> {
    const { rows } = this.#parts;
    if (this.#lost.has(agentId) || !rows.holdsAny(agentId)) return;
    // Once: a service that answers nothing at all must not be given everything again and again.
    this.#lost.add(agentId);
    log("warn", "the vector service has lost an agent's records; they are pushed anew");
    await rows.unconfirm(agentId);
    await this.run();
  }

  /** Makes good every difference, after a run that is under way: that may have passed what came meanwhile. */
  async run(): Promise<RemotePushEnd> {
    while (this.#running !== undefined) await this.#running;
    this.#running = this.#run()
      .catch((error: unknown): RemotePushEnd => {
        if (!(error instanceof MemoryError)) log("warn", `vector service: ${describeError(error)}`);
        return "stopped";
      })
      .finally(async () => {
        this.#running = undefined;
        await this.#parts.release();
      });
    return this.#running;
  }

  async #run(): Promise<RemotePushEnd> {
    const { rows } = this.#parts;
    if (this.#isClosed) return "stopped";
    await this.#followModel();
    if (!(await this.#mayWork())) return "busy";
    for (let from: number | null = 0; from !== null; ) {
      if (this.#isClosed) return "stopped";
      const { entries, next }: ReturnType<RemoteRows["staleFrom"]> = rows.staleFrom(from, CHUNK);
      if (entries.length > 0 && !(await this.#mayWork())) return "busy";
      await this.#removeEntries(entries);
      await nextTurn();
      from = next;
    }
    for (const kind of ["mem", "ep"] as const) {
      const end = await this.#pushKind(kind);
      if (end !== "done") return end;
    }
    if (this.#next === undefined) this.#unconfirmed.clear();
    return "done";
  }

  /**
   * A service that embeds with another model still holds vectors of the one before. Compared when this process
   * sees a model for the first time: one that has not noticed a change yet must not undo what others pushed.
   */
  async #followModel(): Promise<void> {
    const { rows } = this.#parts;
    const model = this.#parts.model();
    if (model === null || model === this.#model) return;
    this.#model = model;
    const known = rows.model();
    if (known === model) return;
    if (known !== null) await rows.unconfirm(null);
    await rows.setModel(model);
  }

  async #pushKind(kind: RecordKind): Promise<RemotePushEnd> {
    const { rows } = this.#parts;
    for (let before: number | null = null; ; ) {
      const { ids, next }: RecordStep = rows.unsentIds(kind, before, this.#chunk);
      if (this.#isClosed) return "stopped";
      if (ids.length > 0 && !(await this.#mayWork())) return "busy";
      const keys = ids.map((id) => recordKey(kind, id)).filter((key) => !this.#isGivenUp(key));
      await this.#send(rows.items(keys));
      await nextTurn();
      if (next === null) return "done";
      before = next;
    }
  }

  async #mayWork(): Promise<boolean> {
    return !this.#isClosed && (await this.#parts.lease(LEASE_MS));
  }

  async #removeEntries(entries: readonly RemoteEntry[]): Promise<void> {
    const { rows, service } = this.#parts;
    for (const [agentId, group] of byAgent(entries)) {
      if (rows.isAbandoned(agentId)) {
        await service.purge(agentId);
        await rows.removeAgent(agentId);
        continue;
      }
      const keys = group.map(({ key }) => key);
      await service.remove(agentId, keys.map(refOf));
      await rows.remove(agentId, keys);
    }
  }

  async #send(items: readonly RecordText[]): Promise<void> {
    for (const [agentId, group] of byAgent(items)) {
      // Before the call: what the service may hold must be known even if the answer never comes.
      await this.#parts.rows.announce(group);
      await this.#index(agentId, group);
    }
  }

  /** Halves a list that the service refuses until the text at fault stands alone. */
  async #index(agentId: string, items: readonly RecordText[]): Promise<void> {
    const { rows, service, maxRetries } = this.#parts;
    try {
      await service.index(
        agentId,
        items.map(({ key, text }) => ({ ref: refOf(key), text })),
      );
      await rows.confirm(items);
      for (const { key } of items) {
        this.#refused.delete(key);
        this.#unconfirmed.delete(key);
      }
      this.#chunk = Math.min(CHUNK, Math.max(this.#chunk, items.length * 2));
    } catch (error) {
      if (!refusesTexts(error)) this.#chunk = Math.max(1, Math.ceil(items.length / 2));
      if (this.#isClosed || !refusesTexts(error)) throw error;
      const [only] = items;
      if (items.length > 1 || only === undefined) {
        const middle = Math.ceil(items.length / 2);
        await this.#index(agentId, items.slice(0, middle));
        await this.#index(agentId, items.slice(middle));
        return;
      }
      const attempts = (this.#refused.get(only.key) ?? 0) + 1;
      this.#refused.set(only.key, attempts);
      log(
        attempts < maxRetries ? "debug" : "warn",
        `the vector service refuses ${refOf(only.key)}, attempt ${attempts}: ${describeError(error)}`,
      );
    }
  }

  #isGivenUp(key: number): boolean {
    return (this.#refused.get(key) ?? 0) >= this.#parts.maxRetries;
  }

  /** Ends what is running; an interrupted push is repeated by the next process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await within(CLOSE_MS, this.#next ?? this.#sending, false);
    this.#parts.service.close();
    await Promise.all([this.#running, this.#next ?? this.#sending]);
  }
}

function refusesTexts(error: unknown): boolean {
  return error instanceof EmbeddingError && error.refusesTexts;
}

function refOf(key: number): string {
  return formatRef(recordOfKey(key));
}

function byAgent<Entry extends RemoteEntry>(entries: readonly Entry[]): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) groups.set(entry.agentId, [...(groups.get(entry.agentId) ?? []), entry]);
  return groups;
}
