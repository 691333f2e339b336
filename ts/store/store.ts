// The ground state, opened: one database, its tables, and the writes that touch several of them at once.

import type { DatabaseConfig } from "../config.js";
import { type RecordId, recordKey } from "../domain/record.js";
import { EVERYTHING, type ReadScope } from "../domain/scope.js";
import { Belongings, type MovedUse } from "./belongings.js";
import { ChangeLog } from "./change-log.js";
import { Database } from "./database.js";
import { loadDriver } from "./driver.js";
import { type EmbeddedBlock, Embeddings } from "./embeddings.js";
import { Episodes, type NewEpisode } from "./episodes.js";
import { Health } from "./health.js";
import { Jobs } from "./jobs.js";
import { Lexical } from "./lexical.js";
import { LexicalRepair } from "./lexical-repair.js";
import { Memories, type NewMemory } from "./memories.js";
import { Profiles } from "./profiles.js";
import { Relations } from "./relations.js";
import { type ScopePool, Scopes } from "./scopes.js";
import { Settings } from "./settings.js";
import { Showings } from "./showings.js";
import { Transfer } from "./transfer.js";
import { Uses } from "./uses.js";
import { VectorGaps } from "./vector-gaps.js";

/** What a record of another store brings along. */
export interface Moved {
  /** its own id, kept where that is free */
  readonly id: number;
  /** else it gets one above this */
  readonly above: number;
  readonly use: MovedUse | null;
}

/** Vectors of a new text, with the embedder that made them. */
export interface NewEmbedding {
  readonly identity: string;
  readonly dimension: number;
  readonly blocks: readonly EmbeddedBlock[];
}

export class Store {
  readonly database: Database;
  readonly memories: Memories;
  readonly episodes: Episodes;
  readonly lexical: Lexical;
  readonly lexicalRepair: LexicalRepair;
  readonly profiles: Profiles;
  readonly uses: Uses;
  readonly settings: Settings;
  readonly relations: Relations;
  readonly showings: Showings;
  readonly transfer: Transfer;
  readonly belongings: Belongings;
  readonly health: Health;
  readonly vectorGaps: VectorGaps;
  readonly embeddings: Embeddings;
  readonly changeLog: ChangeLog;
  readonly jobs: Jobs;
  readonly #scopes: Scopes;

  private constructor(database: Database) {
    this.database = database;
    this.memories = new Memories(database);
    this.episodes = new Episodes(database);
    this.profiles = new Profiles(database);
    this.uses = new Uses(database);
    this.settings = new Settings(database);
    this.lexical = new Lexical(database, this.settings);
    this.lexicalRepair = new LexicalRepair(database, this.lexical, this.settings);
    this.relations = new Relations(database);
    this.showings = new Showings(database);
    this.transfer = new Transfer(database);
    this.belongings = new Belongings(database);
    this.health = new Health(database);
    this.vectorGaps = new VectorGaps(database);
    this.embeddings = new Embeddings(database);
    this.changeLog = new ChangeLog(database, this.settings);
    this.jobs = new Jobs(database);
    this.#scopes = new Scopes(database);
  }

  /** Opens or creates the database. Throws `driver_missing`, `schema_mismatch`, `storage_unavailable`. */
  static open(config: DatabaseConfig, { readOnly = false } = {}): Store {
    const driver = loadDriver(config.driver);
    return new Store(
      Database.open({
        path: config.path,
        driver,
        synchronous: config.synchronous,
        busyTimeoutMs: config.busyTimeoutMs,
        readOnly,
      }),
    );
  }

  /** The random name that the database got when it was made. */
  databaseId(): string {
    return String(this.database.value("SELECT value FROM settings WHERE name = 'database_id'"));
  }

  /** Writes a memory with its words and vectors, or returns null when a unique index holds it already. */
  addMemory(memory: NewMemory, embedding: NewEmbedding | null, moved: Moved | null = null): number | null {
    return this.database.transaction(() => {
      const freeId = moved === null ? null : this.transfer.freeId("mem", moved.id, moved.above);
      const id = this.memories.insert(memory, this.#scopes.code(memory), freeId);
      if (id !== null) this.#complete({ kind: "mem", id }, memory.content, embedding, moved);
      return id;
    });
  }

  addEpisode(episode: NewEpisode, embedding: NewEmbedding | null, moved: Moved | null = null): number {
    return this.database.transaction(() => {
      const freeId = moved === null ? null : this.transfer.freeId("ep", moved.id, moved.above);
      const id = this.episodes.insert(episode, this.#scopes.code(episode), freeId);
      this.#complete({ kind: "ep", id }, `${episode.summary} ${episode.keywords}`, embedding, moved);
      return id;
    });
  }

  /** What a new row has in other tables. */
  #complete(
    { kind, id }: RecordId,
    words: string,
    embedding: NewEmbedding | null,
    moved: Moved | null,
  ): void {
    this.lexical.put(kind, id, words);
    this.#putEmbedding(recordKey(kind, id), embedding);
    if (moved !== null && moved.use !== null) this.transfer.putUse(kind, id, moved.use);
  }

  deleteRecords(records: readonly RecordId[]): void {
    this.database.transaction(() => {
      for (const { kind, id } of records) kind === "mem" ? this.deleteMemory(id) : this.deleteEpisode(id);
    });
  }

  /** Puts a new text with its words and vectors in the place of the old ones. */
  replaceContent(id: number, content: string, embedding: NewEmbedding | null): void {
    this.database.transaction(() => {
      this.memories.replaceContent(id, content);
      this.lexical.put("mem", id, content);
      this.embeddings.remove(recordKey("mem", id));
      this.#putEmbedding(recordKey("mem", id), embedding);
    });
  }

  deleteEpisode(id: number): void {
    this.database.transaction(() => {
      this.episodes.delete(id);
      this.lexical.remove("ep", id);
      this.embeddings.remove(recordKey("ep", id));
      this.uses.remove(recordKey("ep", id));
    });
  }

  /** Gives a record with all that hangs on it to another agent; false when a unique index forbids it. */
  moveRecord({ kind, id }: RecordId, agentId: string): boolean {
    return this.database.transaction(() => {
      const [row] =
        kind === "mem" ? this.memories.get([id], EVERYTHING) : this.episodes.get([id], EVERYTHING);
      if (row === undefined) return false;
      const isMoved = this.transfer.setAgent(kind, id, agentId, this.#scopes.code({ ...row, agentId }));
      // Index files know a row's scope.
      if (isMoved) this.embeddings.logChange(recordKey(kind, id));
      return isMoved;
    });
  }

  /** Records of an agent, as the scopes count them. */
  rowsOf(agentId: string): { memories: number; episodes: number } {
    return this.pool({ ...EVERYTHING, agentId });
  }

  deleteMemory(id: number): void {
    this.database.transaction(() => {
      this.memories.delete(id);
      this.lexical.remove("mem", id);
      this.embeddings.remove(recordKey("mem", id));
      this.uses.remove(recordKey("mem", id));
    });
  }

  #putEmbedding(key: number, embedding: NewEmbedding | null): void {
    if (embedding === null) return;
    const code = this.embeddings.embedderCode(embedding.identity, embedding.dimension);
    this.embeddings.put(key, code, embedding.blocks);
  }

  pool(scope: ReadScope): ScopePool {
    return this.#scopes.pool(scope);
  }

  memoryCounts(): { agentId: string; rows: number }[] {
    return this.#scopes.memoryCounts();
  }

  agents(limit: number): string[] {
    return this.#scopes.agents(limit);
  }

  close(): void {
    this.database.close();
  }
}
