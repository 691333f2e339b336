// Makes the words indexes whole again from the records, in steps and newest first, while others read and write.

import { log } from "../log.js";
import type { Database, StepOptions } from "./database.js";
import { Lease } from "./lease.js";
import { LEXICAL_TABLES, type Lexical, type LexicalTables } from "./lexical.js";
import type { Settings } from "./settings.js";

/** Under this name the settings tell all processes that records may be missing, until a repair has ended. */
const REPAIR = "lexical_repair";
/** A killed process's repair is taken over after this long, ms. */
const ALONE_MS = 15_000;
/** A table that is damaged again each time lies on a bad disk. */
const MAX_ROUNDS = 5;
/** Rows looked at by one query. */
const PAGE = 256;
/** Above every id. */
const END = 9_223_372_036_854_775_807n;

export class LexicalRepair {
  readonly #db: Database;
  readonly #lexical: Lexical;
  readonly #settings: Settings;
  /** rows that differ although a repair has just ended: nothing that another one would mend */
  #isHopeless = false;

  constructor(db: Database, lexical: Lexical, settings: Settings) {
    this.#db = db;
    this.#lexical = lexical;
    this.#settings = settings;
  }

  /** Whether the indexes may lack records, as far as is known: cheap enough for every recall. */
  isUnderWay(): boolean {
    return this.#lexical.damaged().length > 0 || this.#settings.get(REPAIR) !== null;
  }

  /** Whether a repair would find something to do; counts the rows of every index. */
  isDue(): boolean {
    return this.isUnderWay() || (!this.#isHopeless && !this.#lexical.isComplete());
  }

  /**
   * Empties what is damaged and indexes the records that are missing. Returns whether there was anything to do;
   * false too while another process is at it.
   * @param now milliseconds since the epoch
   */
  async run(now: () => number, options: StepOptions = {}): Promise<boolean> {
    if (!this.isDue()) return false;
    const lease = new Lease(this.#db, this.#settings, REPAIR, now);
    if (!(await lease.take(ALONE_MS))) return false;
    try {
      await this.#repair(options);
    } finally {
      await lease.release();
    }
    return true;
  }

  async #repair(options: StepOptions): Promise<void> {
    log("warn", "the words index lacks records and is filled from the memories");
    await this.#db.write(() => this.#settings.put(REPAIR, "begun"), { background: true });
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await this.#clearDamaged();
      for (const tables of Object.values(LEXICAL_TABLES)) {
        await this.#fill(tables, options);
        await this.#removeStrangers(tables, options);
        if (options.isStopped?.() === true) return;
      }
      // Writing may have met damage in a table that looked whole.
      if (this.#lexical.damaged().length === 0) break;
    }
    await this.#db.write(() => this.#settings.remove(REPAIR), { background: true });
    this.#isHopeless = !this.#lexical.isComplete();
    if (this.#isHopeless) log("warn", "some records cannot be indexed by their words");
  }

  async #clearDamaged(): Promise<void> {
    for (const table of this.#lexical.damaged())
      await this.#db.write(() => this.#lexical.clear(table), { background: true });
  }

  /** Indexes the records that an index lacks. What is stored meanwhile indexes itself. */
  #fill(tables: LexicalTables, options: StepOptions): Promise<void> {
    const { records, terms, trigrams } = tables;
    const isKnown = [terms, trigrams]
      .map((table) => `EXISTS (SELECT 1 FROM ${table}_docsize d WHERE d.id = r.id)`)
      .join(" AND ");
    return this.#forUnknown(`${records} r`, isKnown, (id) => this.#lexical.index(tables, id), options);
  }

  /** Removes what belongs to no record. */
  async #removeStrangers({ records, terms, trigrams }: LexicalTables, options: StepOptions): Promise<void> {
    const isKnown = `EXISTS (SELECT 1 FROM ${records} r WHERE r.id = d.id)`;
    for (const table of [terms, trigrams])
      await this.#forUnknown(`${table}_docsize d`, isKnown, (id) => this.#lexical.forget(table, id), options);
  }

  /** `work` for the id of each row of a table for which the SQL `isKnown` does not hold, the largest first. */
  async #forUnknown(
    table: string,
    isKnown: string,
    work: (id: number) => void,
    options: StepOptions,
  ): Promise<void> {
    const page = this.#db.sql(
      `SELECT id, ${isKnown} AS known FROM ${table} WHERE id < ? ORDER BY id DESC LIMIT ${PAGE}`,
    );
    let before: number | bigint = END;
    await this.#db.writeInSteps((hasTime) => {
      // Pages on which all is known cost little: as many of them as there is time for.
      while (hasTime()) {
        const rows = page.all(before);
        for (const row of rows) {
          const id = Number(row["id"]);
          if (row["known"] !== 1) work(id);
          before = id;
          // Asked behind each row: a step that found no time at all would get no further.
          if (!hasTime()) return "more";
        }
        if (rows.length < PAGE) return "done";
      }
      return "more";
    }, options);
  }
}
