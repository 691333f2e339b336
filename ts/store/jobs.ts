// Long operations under way, one row each, and the records that each has dealt with.

import type { Database } from "./database.js";
import type { SqlRow } from "./driver.js";

export type JobKind = "merge" | "import" | "delete";

/** What a job knows of itself. `state` is its own affair, kept as JSON with every step. */
export interface Job {
  readonly id: number;
  readonly kind: JobKind;
  /** whose rows it changes */
  readonly agents: readonly string[];
  state: unknown;
  /** rows dealt with, of `total` */
  done: number;
  readonly total: number;
  readonly owner: string;
  /** until then its owner is at work, ms since the epoch */
  readonly leaseUntil: number;
  readonly startedAt: string;
}

export type NewJob = Omit<Job, "id" | "done">;

/** A record of a job; `other`: the target's record in its place, null where there is none. */
export interface JobRow {
  readonly key: number;
  readonly other: number | null;
}

export class Jobs {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(job: NewJob): number {
    return this.#db
      .sql(
        "INSERT INTO jobs (kind, agents, state, done, total, owner, lease_until, started_at) VALUES (?, ?, ?, 0, ?, ?, ?, ?)",
      )
      .run(
        job.kind,
        JSON.stringify(job.agents),
        JSON.stringify(job.state),
        job.total,
        job.owner,
        job.leaseUntil,
        job.startedAt,
      ).lastId;
  }

  get(id: number): Job | null {
    const row = this.#db.sql("SELECT * FROM jobs WHERE id = ?").get(id);
    return row === undefined ? null : toJob(row);
  }

  /** Oldest first. */
  all(): Job[] {
    return this.#db.sql("SELECT * FROM jobs ORDER BY id").all().map(toJob);
  }

  /** Jobs that change rows of one of these agents, oldest first. */
  of(agents: readonly string[]): Job[] {
    return this.all().filter((job) => job.agents.some((agent) => agents.includes(agent)));
  }

  save(job: Job, leaseUntil: number): void {
    this.#db
      .sql("UPDATE jobs SET state = ?, done = ?, lease_until = ? WHERE id = ?")
      .run(JSON.stringify(job.state), job.done, leaseUntil, job.id);
  }

  setOwner(id: number, owner: string, leaseUntil: number): void {
    this.#db.sql("UPDATE jobs SET owner = ?, lease_until = ? WHERE id = ?").run(owner, leaseUntil, id);
  }

  remove(id: number): void {
    this.#db.sql("DELETE FROM jobs WHERE id = ?").run(id);
  }

  addRow(job: number, key: number, other: number | null): void {
    this.#db
      .sql("INSERT OR REPLACE INTO job_rows (job, record_key, other_key) VALUES (?, ?, ?)")
      .run(job, key, other);
  }

  /** The target's record that stands for this one in a merge; null when the job has not dealt with it. */
  other(job: number, key: number): number | null {
    const found = this.#db.value("SELECT other_key FROM job_rows WHERE job = ? AND record_key = ?", job, key);
    return found === undefined || found === null ? null : Number(found);
  }

  /** All records that stand for others in a merge. */
  others(job: number): Set<number> {
    const rows = this.#db.sql("SELECT other_key AS other FROM job_rows WHERE job = ?").all(job);
    return new Set(rows.map((row) => Number(row["other"])));
  }

  rowsAfter(job: number, after: number, limit: number): JobRow[] {
    return this.#db
      .sql(
        "SELECT record_key AS key, other_key AS other FROM job_rows WHERE job = ? AND record_key > ? ORDER BY record_key LIMIT ?",
      )
      .all(job, after, limit)
      .map((row) => ({
        key: Number(row["key"]),
        other: row["other"] === null ? null : Number(row["other"]),
      }));
  }

  /** Forgets up to `limit` rows; returns how many. */
  removeRows(job: number, limit: number): number {
    return this.#db
      .sql(
        "DELETE FROM job_rows WHERE job = ? AND record_key IN (SELECT record_key FROM job_rows WHERE job = ? LIMIT ?)",
      )
      .run(job, job, limit).changes;
  }

  removeRow(job: number, key: number): void {
    this.#db.sql("DELETE FROM job_rows WHERE job = ? AND record_key = ?").run(job, key);
  }

  /** Whether an unfinished import put this record in, and would take it back. */
  isTakenBack(key: number): boolean {
    return (
      this.#db.value("SELECT 1 FROM job_rows WHERE record_key = ? AND other_key IS NULL LIMIT 1", key) !==
      undefined
    );
  }

  /** The record stays, whatever becomes of the import that put it in. */
  keep(key: number): void {
    this.#db.sql("DELETE FROM job_rows WHERE record_key = ? AND other_key IS NULL").run(key);
  }

  addUndo(job: number, entry: object): void {
    this.#db.sql("INSERT INTO job_undo (job, entry) VALUES (?, ?)").run(job, JSON.stringify(entry));
  }

  /** Takes the newest entry out; null when there is none. */
  takeUndo(job: number): unknown {
    const row = this.#db
      .sql("SELECT id, entry FROM job_undo WHERE job = ? ORDER BY id DESC LIMIT 1")
      .get(job);
    if (row === undefined) return null;
    this.#db.sql("DELETE FROM job_undo WHERE id = ?").run(Number(row["id"]));
    return JSON.parse(String(row["entry"]));
  }

  removeUndo(job: number, limit: number): number {
    return this.#db
      .sql("DELETE FROM job_undo WHERE id IN (SELECT id FROM job_undo WHERE job = ? LIMIT ?)")
      .run(job, limit).changes;
  }
}

function toJob(row: SqlRow): Job {
  return {
    id: Number(row["id"]),
    kind: String(row["kind"]) as JobKind,
    agents: JSON.parse(String(row["agents"])) as string[],
    state: JSON.parse(String(row["state"])),
    done: Number(row["done"]),
    total: Number(row["total"]),
    owner: String(row["owner"]),
    leaseUntil: Number(row["lease_until"]),
    startedAt: String(row["started_at"]),
  };
}
