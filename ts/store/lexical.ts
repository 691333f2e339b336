// The two FTS5 indexes, words and substrings, and their queries. Written in the record's own transaction. An index
// that turns out to be damaged stands in nobody's way: it is left out until `lexical-repair.ts` has filled it anew.

import type { RecordKind } from "../domain/record.js";
import type { ReadScope, SourceFilter } from "../domain/scope.js";
import { log } from "../log.js";
import { foldText } from "../text/normalise.js";
import { indexTerms, isPrefixTerm } from "../text/tokenise.js";
import type { Database } from "./database.js";
import { isDamagedIndex } from "./driver.js";
import { both, type SqlCondition, scopeCondition, sourceCondition } from "./scope-sql.js";
import type { Settings } from "./settings.js";

/** One row of a lexical list. */
export interface LexicalHit {
  readonly id: number;
  /** BM25 (k1 1.2, b 0.75) of FTS5 with its sign turned: larger is better, above 0 */
  readonly score: number;
}

export interface LexicalTables {
  /** the table of records, and the column of `scopes` that counts them */
  readonly records: string;
  /** SQL of the text that is indexed */
  readonly text: string;
  readonly terms: string;
  readonly trigrams: string;
}

export const LEXICAL_TABLES: Readonly<Record<RecordKind, LexicalTables>> = {
  mem: { records: "memories", text: "content", terms: "memory_terms", trigrams: "memory_trigrams" },
  ep: {
    records: "episodes",
    text: "summary || ' ' || keywords",
    terms: "episode_terms",
    trigrams: "episode_trigrams",
  },
};

/** How often an index was emptied because it was damaged. */
const CLEARINGS = "lexical_clearings";

export class Lexical {
  readonly #db: Database;
  readonly #settings: Settings;
  /** tables that were met damaged, with the number of clearings that there had been by then */
  readonly #damaged = new Map<string, number>();

  constructor(db: Database, settings: Settings) {
    this.#db = db;
    this.#settings = settings;
    db.onDamagedIndex = () => {
      this.isIntact();
    };
    for (const { terms } of Object.values(LEXICAL_TABLES)) {
      db.exec(
        `CREATE VIRTUAL TABLE IF NOT EXISTS temp.${terms}_vocab USING fts5vocab('main', '${terms}', 'row')`,
      );
    }
  }

  /** Indexes a record's text, replacing what was there. */
  put(kind: RecordKind, id: number, text: string): void {
    this.#put(LEXICAL_TABLES[kind], id, text);
  }

  #put({ terms, trigrams }: LexicalTables, id: number, text: string): void {
    this.#tolerant(terms, undefined, () =>
      this.#db
        .sql(`INSERT OR REPLACE INTO ${terms}(rowid, terms) VALUES (?, ?)`)
        .run(id, indexTerms(text).join(" ")),
    );
    this.#tolerant(trigrams, undefined, () =>
      this.#db.sql(`INSERT OR REPLACE INTO ${trigrams}(rowid, text) VALUES (?, ?)`).run(id, foldText(text)),
    );
  }

  remove(kind: RecordKind, id: number): void {
    const { terms, trigrams } = LEXICAL_TABLES[kind];
    for (const table of [terms, trigrams]) this.forget(table, id);
  }

  /** Takes a record out of one index. */
  forget(table: string, id: number): void {
    this.#tolerant(table, undefined, () => this.#db.sql(`DELETE FROM ${table} WHERE rowid = ?`).run(id));
  }

  /** Indexes the record's stored text. */
  index(tables: LexicalTables, id: number): void {
    const text = this.#db.value(`SELECT ${tables.text} FROM ${tables.records} WHERE id = ?`, id);
    if (text !== undefined) this.#put(tables, id, String(text));
  }

  /** The tables that were met damaged and not emptied since. */
  damaged(): readonly string[] {
    return [...this.#damaged.keys()];
  }

  /** Empties a damaged table, unless another process did so after the damage was met. */
  clear(table: string): void {
    const clearings = this.#clearings();
    if (this.#damaged.get(table) === clearings) {
      this.#db.exec(`INSERT INTO ${table}(${table}) VALUES ('delete-all')`);
      this.#settings.put(CLEARINGS, String(clearings + 1));
    }
    this.#damaged.delete(table);
  }

  #clearings(): number {
    return Number(this.#settings.get(CLEARINGS) ?? 0);
  }

  /** Runs `work` on one table; where the table is damaged, the answer is `otherwise` and a repair is due. */
  #tolerant<T>(table: string, otherwise: T, work: () => T): T {
    if (this.#damaged.has(table)) return otherwise;
    try {
      return work();
    } catch (error) {
      if (!isDamagedIndex(error)) throw error;
      if (!this.#damaged.has(table))
        log("warn", `the words index ${table} is damaged and left out until it is repaired`);
      this.#damaged.set(table, this.#clearings());
      return otherwise;
    }
  }

  /** Records that hold any of the terms, best BM25 first; equal scores newer id first. */
  searchTerms(
    kind: RecordKind,
    terms: readonly string[],
    scope: ReadScope,
    source: SourceFilter | null,
    limit: number,
  ): LexicalHit[] {
    const match = terms.map((term) => (isPrefixTerm(term) ? `${quote(term)} *` : quote(term))).join(" OR ");
    return this.#search(LEXICAL_TABLES[kind].terms, match, kind, scope, source, limit);
  }

  /** Records whose folded text holds any of the substrings, each of three or more characters. */
  searchSubstrings(
    kind: RecordKind,
    substrings: readonly string[],
    scope: ReadScope,
    source: SourceFilter | null,
    limit: number,
  ): LexicalHit[] {
    const match = substrings.map(quote).join(" OR ");
    return this.#search(LEXICAL_TABLES[kind].trigrams, match, kind, scope, source, limit);
  }

  #search(
    table: string,
    match: string,
    kind: RecordKind,
    scope: ReadScope,
    source: SourceFilter | null,
    limit: number,
  ): LexicalHit[] {
    if (match === "" || limit === 0) return [];
    const visible = this.#visible(table, kind, scope, source);
    if (visible === null) return [];
    const search = this.#db.sql(
      `SELECT ${table}.rowid AS id, -bm25(${table}) AS score FROM ${table} ${visible.sql}
       ORDER BY score DESC, ${table}.rowid DESC LIMIT ?`,
    );
    return this.#tolerant(table, [], () => search.all(match, ...visible.values, limit)).map((row) => ({
      id: Number(row["id"]),
      score: Number(row["score"]),
    }));
  }

  /**
   * Null where the scope holds no record of this kind. Looking each hit's record up is a third of a search, and
   * needless where the scope sees all of them.
   */
  #visible(
    table: string,
    kind: RecordKind,
    scope: ReadScope,
    source: SourceFilter | null,
  ): SqlCondition | null {
    const { records } = LEXICAL_TABLES[kind];
    const bucket = scopeCondition(scope, "scopes");
    const holds = (condition: string): boolean =>
      this.#db.value(
        `SELECT 1 FROM scopes WHERE ${records} > 0 AND ${condition} LIMIT 1`,
        ...bucket.values,
      ) !== undefined;
    if (!holds(`(${bucket.sql})`)) return null;
    const isFiltered = source !== null || (scope.excludeTags ?? []).length > 0;
    if (!isFiltered && !holds(`NOT (${bucket.sql})`)) return { sql: `WHERE ${table} MATCH ?`, values: [] };
    const inScope = scopeCondition(scope, records);
    const where = kind === "mem" ? both(inScope, sourceCondition(source, records)) : inScope;
    return {
      sql: `JOIN ${records} ON ${records}.id = ${table}.rowid WHERE ${table} MATCH ? AND ${where.sql}`,
      values: where.values,
    };
  }

  /** Number of indexed memories, all agents together. */
  documentCount(): number {
    return Number(this.#db.value("SELECT coalesce(sum(memories), 0) FROM scopes"));
  }

  /** In how many memories each term occurs, all agents together; 0 for an unknown term. */
  documentFrequencies(terms: readonly string[]): Map<string, number> {
    const look = this.#db.sql("SELECT doc FROM temp.memory_terms_vocab WHERE term = ?");
    const count = (term: string): number => Number(look.get(term)?.["doc"] ?? 0);
    return this.#tolerant(
      LEXICAL_TABLES.mem.terms,
      new Map(),
      () => new Map(terms.map((term) => [term, count(term)])),
    );
  }

  /** Whether both indexes hold as many rows as there are records: what a start can afford to look at. */
  isComplete(): boolean {
    const count = (table: string): unknown => this.#db.value(`SELECT count(*) FROM ${table}`);
    // One state of the database: others write meanwhile.
    return this.#db.read(() =>
      Object.values(LEXICAL_TABLES).every(({ records, terms, trigrams }) => {
        const rows = count(records);
        return [terms, trigrams].every((table) => count(`${table}_docsize`) === rows);
      }),
    );
  }

  /**
   * Whether SQLite's own check, which reads all of it, finds every index whole too. Those that are not count as
   * damaged from then on. Takes about 3 seconds for 200,000 records, and no lock that a writer needs.
   */
  isIntact(): boolean {
    for (const { terms, trigrams } of Object.values(LEXICAL_TABLES))
      for (const table of [terms, trigrams])
        if (!this.#isTableIntact(table)) this.#damaged.set(table, this.#clearings());
    return this.#damaged.size === 0 && this.isComplete();
  }

  #isTableIntact(table: string): boolean {
    try {
      return this.#db.value(`PRAGMA integrity_check('${table}')`) === "ok";
    } catch {
      return false;
    }
  }
}

/** An FTS5 string: nothing inside it is syntax. */
function quote(term: string): string {
  return `"${term.replaceAll('"', '""')}"`;
}
