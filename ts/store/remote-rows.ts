// What a vector service holds of this store, and what it lacks. Every question is a comparison of the records
// with what the service confirmed, so nothing that an outage or a kill swallowed can stay unnoticed.

import type { RecordKind } from "../domain/record.js";
import type { Database } from "./database.js";
import type { SqlRow } from "./driver.js";
import { contentHash } from "./memories.js";
import { type RecordStep, STEP_RECORDS, stepThrough } from "./record-steps.js";
import { RECORD_TABLES, type RecordText, recordTexts } from "./records.js";
import type { Settings } from "./settings.js";

/** A record that a service may hold under an agent's name. */
export interface RemoteEntry {
  readonly key: number;
  readonly agentId: string;
}

const OPEN = new Uint8Array(0);

/** Episodes never change their text: any confirmed hash will do. */
const HELD = {
  mem: "h.record_key = r.id * 2 AND h.agent_id = r.agent_id AND h.content_hash = r.content_hash",
  ep: "h.record_key = r.id * 2 + 1 AND h.agent_id = r.agent_id AND h.content_hash <> x''",
} as const;

const STALE = `SELECT h.record_key AS key, h.agent_id AS agent_id FROM remote_rows h WHERE h.service = ?
  AND NOT EXISTS (SELECT 1 FROM memories m WHERE h.record_key % 2 = 0 AND m.id = h.record_key / 2 AND m.agent_id = h.agent_id)
  AND NOT EXISTS (SELECT 1 FROM episodes e WHERE h.record_key % 2 = 1 AND e.id = h.record_key / 2 AND e.agent_id = h.agent_id)`;

export class RemoteRows {
  readonly #db: Database;
  readonly #settings: Settings;
  readonly #service: string;

  /** @param service name under which the service's rows are kept */
  constructor(db: Database, settings: Settings, service: string) {
    this.#db = db;
    this.#settings = settings;
    this.#service = service;
  }

  /** Ids of records that the service has not confirmed as they are, among the next below `before` (null: the newest). */
  unsentIds(kind: RecordKind, before: number | null, limit: number): RecordStep {
    const table = RECORD_TABLES[kind];
    const query = this.#db.sql(
      `SELECT r.id AS id FROM ${table} r WHERE r.id >= ? AND r.id < ?
         AND NOT EXISTS (SELECT 1 FROM remote_rows h WHERE h.service = ? AND ${HELD[kind]})
       ORDER BY r.id DESC LIMIT ?`,
    );
    return stepThrough(this.#db, { kind, before, limit }, (low, high) =>
      query.all(low, high, this.#service, limit).map((row) => Number(row["id"])),
    );
  }

  /** Records of an agent (null = all) that the service has not confirmed. */
  countUnsent(agentId: string | null): number {
    const count = (table: string, held: string): number =>
      Number(
        this.#db.value(
          `SELECT count(*) FROM ${table} r WHERE (? IS NULL OR r.agent_id = ?)
             AND NOT EXISTS (SELECT 1 FROM remote_rows h WHERE h.service = ? AND ${held})`,
          agentId,
          agentId,
          this.#service,
        ),
      );
    return count("memories", HELD.mem) + count("episodes", HELD.ep);
  }

  /** What to push of these records: keys that are gone are absent. */
  items(keys: readonly number[]): RecordText[] {
    return recordTexts(this.#db, keys);
  }

  /** Notes that the service is about to be given these: from now on it may hold them. */
  announce(entries: readonly RemoteEntry[]): Promise<void> {
    return this.#put(entries.map((entry) => ({ ...entry, hash: OPEN })));
  }

  /** Notes that the service holds exactly these texts. */
  confirm(items: readonly RecordText[]): Promise<void> {
    return this.#put(items.map(({ text, ...entry }) => ({ ...entry, hash: contentHash(text) })));
  }

  #put(rows: readonly (RemoteEntry & { readonly hash: Uint8Array })[]): Promise<void> {
    const insert = this.#db.sql(
      `INSERT INTO remote_rows (service, record_key, agent_id, content_hash) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET content_hash = excluded.content_hash`,
    );
    return this.#write(() => {
      for (const { key, agentId, hash } of rows) insert.run(this.#service, key, agentId, hash);
    });
  }

  /** What of these keys the service may hold although the store has it no longer under that agent. */
  stale(keys: readonly number[]): RemoteEntry[] {
    return this.#db
      .sql(`${STALE} AND h.record_key IN (SELECT value FROM json_each(?)) ORDER BY h.record_key`)
      .all(this.#service, JSON.stringify(keys))
      .map(toEntry);
  }

  /** The same, at most `limit`, of the next keys from `from` on. `next`: where to go on, null at the end. */
  staleFrom(from: number, limit: number): { entries: RemoteEntry[]; next: number | null } {
    const high = from + 2 * STEP_RECORDS;
    const entries = this.#db
      .sql(`${STALE} AND h.record_key >= ? AND h.record_key < ? ORDER BY h.record_key LIMIT ?`)
      .all(this.#service, from, high, limit)
      .map(toEntry);
    if (entries.length === limit) return { entries, next: entries[limit - 1]?.key ?? null };
    const last = this.#db.value("SELECT max(record_key) FROM remote_rows WHERE service = ?", this.#service);
    return { entries, next: Number(last ?? 0) < high ? null : high };
  }

  /** Whether the service may hold something of an agent of whom the store holds nothing. */
  isAbandoned(agentId: string): boolean {
    const held = this.#db.value(
      "SELECT 1 FROM remote_rows WHERE service = ? AND agent_id = ? LIMIT 1",
      this.#service,
      agentId,
    );
    if (held === undefined) return false;
    const rows = this.#db.value(
      "SELECT coalesce(sum(memories + episodes), 0) FROM scopes WHERE agent_id = ?",
      agentId,
    );
    return Number(rows) === 0;
  }

  /** Label of the model that the service's vectors are of; null before anybody knew. */
  model(): string | null {
    return this.#settings.get(`remote_model:${this.#service}`);
  }

  setModel(model: string): Promise<void> {
    return this.#write(() => this.#settings.put(`remote_model:${this.#service}`, model));
  }

  /** Forgets what the service holds no longer. */
  remove(agentId: string, keys: readonly number[]): Promise<void> {
    const remove = this.#db.sql(
      "DELETE FROM remote_rows WHERE service = ? AND agent_id = ? AND record_key IN (SELECT value FROM json_each(?))",
    );
    return this.#write(() => remove.run(this.#service, agentId, JSON.stringify(keys)));
  }

  /** Takes back what was confirmed, of an agent (null = all): it is pushed or removed anew. */
  unconfirm(agentId: string | null): Promise<void> {
    const open = this.#db.sql(
      "UPDATE remote_rows SET content_hash = ? WHERE service = ? AND (? IS NULL OR agent_id = ?)",
    );
    return this.#write(() => open.run(OPEN, this.#service, agentId, agentId));
  }

  /** Forgets everything of an agent. */
  removeAgent(agentId: string): Promise<void> {
    const remove = this.#db.sql("DELETE FROM remote_rows WHERE service = ? AND agent_id = ?");
    return this.#write(() => remove.run(this.#service, agentId));
  }

  async #write(work: () => unknown): Promise<void> {
    await this.#db.write(work, { background: true });
  }

  /** Whether the service confirmed a record of an agent. */
  holdsAny(agentId: string): boolean {
    const held = this.#db.value(
      "SELECT 1 FROM remote_rows WHERE service = ? AND agent_id = ? AND content_hash <> x'' LIMIT 1",
      this.#service,
      agentId,
    );
    return held !== undefined;
  }
}

function toEntry(row: SqlRow): RemoteEntry {
  return { key: Number(row["key"]), agentId: String(row["agent_id"]) };
}
