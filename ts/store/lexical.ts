// The two FTS5 indexes, words and substrings, and their queries. Written in the record's own transaction. An index
// that turns out to be damaged is made anew from the records before the call goes on.

import type { RecordKind } from "../domain/record.js";
import type { ReadScope, SourceFilter } from "../domain/scope.js";
import { log } from "../log.js";
import { foldText } from "../text/normalise.js";
import { indexTerms, isPrefixTerm } from "../text/tokenise.js";
import type { Database } from "./database.js";
import { isDamagedIndex } from "./driver.js";
import { both, type SqlCondition, scopeCondition, sourceCondition } from "./scope-sql.js";

/** One row of a lexical list. */
export interface LexicalHit {
  readonly id: number;
  /** BM25 (k1 1.2, b 0.75) of FTS5 with its sign turned: larger is better, above 0 */
  readonly score: number;
}

interface Tables {
  /** also the column of `scopes` that counts them */
  readonly records: string;
  readonly terms: string;
  readonly trigrams: string;
}

const TABLES: Record<RecordKind, Tables> = {
  mem: { records: "memories", terms: "memory_terms", trigrams: "memory_trigrams" },
  ep: { records: "episodes", terms: "episode_terms", trigrams: "episode_trigrams" },
};

export class Lexical {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
    for (const { terms } of Object.values(TABLES)) {
      db.exec(
        `CREATE VIRTUAL TABLE IF NOT EXISTS temp.${terms}_vocab USING fts5vocab('main', '${terms}', 'row')`,
      );
    }
  }

  /** Indexes a record's text, replacing what was there. */
  put(kind: RecordKind, id: number, text: string): void {
    this.#healing(() => this.#put(kind, id, text));
  }

  #put(kind: RecordKind, id: number, text: string): void {
    const { terms, trigrams } = TABLES[kind];
    this.#db
      .sql(`INSERT OR REPLACE INTO ${terms}(rowid, terms) VALUES (?, ?)`)
      .run(id, indexTerms(text).join(" "));
    this.#db.sql(`INSERT OR REPLACE INTO ${trigrams}(rowid, text) VALUES (?, ?)`).run(id, foldText(text));
  }

  remove(kind: RecordKind, id: number): void {
    const { terms, trigrams } = TABLES[kind];
    this.#healing(() => {
      this.#db.sql(`DELETE FROM ${terms} WHERE rowid = ?`).run(id);
      this.#db.sql(`DELETE FROM ${trigrams} WHERE rowid = ?`).run(id);
    });
  }

  /** Nothing can be stored or found by words with a damaged index, so whoever meets it waits for a new one. */
  #healing<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!isDamagedIndex(error) || this.#db.readOnly) throw error;
      log("warn", "the words index is damaged and is made anew from the memories");
      this.rebuild();
      return work();
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
    return this.#search(TABLES[kind].terms, match, kind, scope, source, limit);
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
    return this.#search(TABLES[kind].trigrams, match, kind, scope, source, limit);
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
    return this.#healing(() => search.all(match, ...visible.values, limit)).map((row) => ({
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
    const { records } = TABLES[kind];
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
    return this.#healing(() => new Map(terms.map((term) => [term, Number(look.get(term)?.["doc"] ?? 0)])));
  }

  /** Whether both indexes hold as many rows as there are records: what a start can afford to look at. */
  isComplete(): boolean {
    const count = (table: string): unknown => this.#db.value(`SELECT count(*) FROM ${table}`);
    return Object.values(TABLES).every(({ records, terms, trigrams }) => {
      const rows = count(records);
      return [terms, trigrams].every((table) => count(`${table}_docsize`) === rows);
    });
  }

  /** Whether FTS5's own check, which reads all of them, finds the indexes whole too; false means `rebuild` is due. */
  isIntact(): boolean {
    try {
      for (const { terms, trigrams } of Object.values(TABLES))
        for (const table of [terms, trigrams])
          this.#db.exec(`INSERT INTO ${table}(${table}, rank) VALUES ('integrity-check', 0)`);
      return this.isComplete();
    } catch {
      return false;
    }
  }

  /** Fills both indexes anew from the records. `onProgress` gets the number of records done. */
  rebuild(onProgress: (done: number) => void = () => {}): void {
    this.#db.transaction(() => {
      let done = 0;
      for (const kind of ["mem", "ep"] as const) {
        const { records, terms, trigrams } = TABLES[kind];
        for (const table of [terms, trigrams])
          this.#db.exec(`INSERT INTO ${table}(${table}) VALUES ('delete-all')`);
        const text = kind === "mem" ? "content" : "summary || ' ' || keywords";
        for (let after = 0; ; ) {
          const rows = this.#db
            .sql(`SELECT id, ${text} AS text FROM ${records} WHERE id > ? ORDER BY id LIMIT 500`)
            .all(after);
          for (const row of rows) this.#put(kind, Number(row["id"]), String(row["text"]));
          if (rows.length === 0) break;
          after = Number(rows[rows.length - 1]?.["id"]);
          done += rows.length;
          onProgress(done);
        }
      }
    });
  }
}

/** An FTS5 string: nothing inside it is syntax. */
function quote(term: string): string {
  return `"${term.replaceAll('"', '""')}"`;
}
