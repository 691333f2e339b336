// Makes the words indexes whole again from the records, in steps and newest first, while others read and write.

import { randomUUID } from "node:crypto";
import { log } from "../log.js";
import type { Database, StepOptions } from "./database.js";
import { LEXICAL_TABLES, type Lexical, type LexicalTables } from "./lexical.js";
import type { Settings } from "./settings.js";

/** Under this name the settings tell all processes that a repair is under way, and until when it is alone. */
const REPAIR = "lexical_repair";
/** A killed process's repair is taken over after this long, ms. */
const ALONE_MS = 15_000;
/** Records looked at by one query. */
const PAGE = 256;
/** A table that is damaged again each time lies on a bad disk. */
const MAX_ROUNDS = 5;
/** Above every id. */
const END = 9_223_372_036_854_775_807n;

export class LexicalRepair {
  readonly #db: Database;
  readonly #lexical: Lexical;
  readonly #settings: Settings;
  readonly #owner = randomUUID();
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
    if (!this.isDue() || !(await this.#take(now))) return false;
    log("warn", "the words index lacks records and is filled from the memories");
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await this.#clearDamaged();
      for (const tables of Object.values(LEXICAL_TABLES)) {
        await this.#fill(tables, now, options);
        await this.#removeStrangers(tables, now, options);
        if (options.isStopped?.() === true) return true;
      }
      // Writing may have met damage in a table that looked whole.
      if (this.#lexical.damaged().length === 0) break;
    }
    await this.#db.write(() => this.#settings.remove(REPAIR), { background: true });
    this.#isHopeless = !this.#lexical.isComplete();
    if (this.#isHopeless) log("warn", "some records cannot be indexed by their words");
    return true;
  }

  #take(now: () => number): Promise<boolean> {
    return this.#db.write(
      () => {
        const [owner, until] = (this.#settings.get(REPAIR) ?? "").split(" ");
        if (owner !== "" && owner !== this.#owner && Number(until) > now()) return false;
        this.#prolong(now);
        return true;
      },
      { background: true },
    );
  }

  #prolong(now: () => number): void {
    this.#settings.put(REPAIR, `${this.#owner} ${now() + ALONE_MS}`);
  }

  async #clearDamaged(): Promise<void> {
    for (const table of this.#lexical.damaged())
      await this.#db.write(() => this.#lexical.clear(table), { background: true });
  }

  /** Indexes the records that an index lacks. What is stored meanwhile indexes itself. */
  async #fill(tables: LexicalTables, now: () => number, options: StepOptions): Promise<void> {
    let before: number | bigint = END;
    const page = this.#db.sql(
      `SELECT id, EXISTS (SELECT 1 FROM ${tables.terms}_docsize d WHERE d.id = r.id)
              AND EXISTS (SELECT 1 FROM ${tables.trigrams}_docsize d WHERE d.id = r.id) AS known
       FROM ${tables.records} r WHERE id < ? ORDER BY id DESC LIMIT ${PAGE}`,
    );
    await this.#inSteps(now, options, (hasTime) => {
      const rows = page.all(before);
      for (const row of rows) {
        if (!hasTime()) return "more";
        const id = Number(row["id"]);
        if (row["known"] !== 1) this.#lexical.index(tables, id);
        before = id;
      }
      return rows.length < PAGE ? "done" : "more";
    });
  }

  /** Removes what belongs to no record. */
  async #removeStrangers(tables: LexicalTables, now: () => number, options: StepOptions): Promise<void> {
    for (const table of [tables.terms, tables.trigrams]) {
      let before: number | bigint = END;
      const page = this.#db.sql(
        `SELECT id, EXISTS (SELECT 1 FROM ${tables.records} r WHERE r.id = d.id) AS known
         FROM ${table}_docsize d WHERE id < ? ORDER BY id DESC LIMIT ${PAGE}`,
      );
      await this.#inSteps(now, options, (hasTime) => {
        const rows = page.all(before);
        for (const row of rows) {
          if (!hasTime()) return "more";
          const id = Number(row["id"]);
          if (row["known"] !== 1) this.#lexical.forget(table, id);
          before = id;
        }
        return rows.length < PAGE ? "done" : "more";
      });
    }
  }

  #inSteps(
    now: () => number,
    options: StepOptions,
    step: (hasTime: () => boolean) => "more" | "done",
  ): Promise<void> {
    return this.#db.writeInSteps((hasTime) => {
      this.#prolong(now);
      // Pages without a gap cost little: as many of them as there is time for.
      let outcome = step(hasTime);
      while (outcome === "more" && hasTime()) outcome = step(hasTime);
      return outcome;
    }, options);
  }
}
