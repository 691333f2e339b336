// The tables. SQLite is the ground state: everything else (vector index files, caches) can be deleted.

/** Marks our databases in their header: "CPNV". */
export const APPLICATION_ID = 0x43504e56;

/** FTS5 splits our terms at blanks only: every other character counts as part of a term. */
const TERMS_TOKENIZER = `tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"`;

const MEMORIES = `
CREATE TABLE memories (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  scope       INTEGER NOT NULL REFERENCES scopes(code),
  agent_id    TEXT NOT NULL,
  project_id  TEXT NOT NULL DEFAULT '',
  channel     TEXT NOT NULL DEFAULT '',
  created_at  TEXT NOT NULL,
  msg_id      TEXT NOT NULL DEFAULT '',
  locked      INTEGER NOT NULL DEFAULT 0,
  kind        TEXT NOT NULL DEFAULT 'note',
  timestamp   TEXT NOT NULL,
  instant     REAL,
  source      TEXT NOT NULL DEFAULT '{}',
  tags        TEXT NOT NULL DEFAULT '[]',
  content_hash BLOB NOT NULL,
  content     TEXT NOT NULL,
  metadata    TEXT NOT NULL DEFAULT '{}'
) STRICT;
-- One copy of a text per bucket; the hash stands for the text, so the index stays small.
CREATE UNIQUE INDEX memories_content ON memories(agent_id, project_id, channel, content_hash);
CREATE UNIQUE INDEX memories_msg_id ON memories(agent_id, project_id, msg_id) WHERE msg_id <> '';
CREATE INDEX memories_age ON memories(agent_id, created_at, id);
CREATE INDEX memories_all_age ON memories(created_at, id);
-- Declared personas are few and asked for on every prompt; tagged rows are looked up to be left out.
CREATE INDEX memories_persona ON memories(agent_id, id) WHERE kind IN ('value', 'intention');
CREATE INDEX memories_tagged ON memories(agent_id, id) WHERE tags <> '[]';
-- What was said next to a row: the moment its timestamp names, ms since the epoch.
CREATE INDEX memories_moment ON memories(scope, instant, id) WHERE instant IS NOT NULL;
`;

const EPISODES = `
CREATE TABLE episodes (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  scope       INTEGER NOT NULL REFERENCES scopes(code),
  agent_id    TEXT NOT NULL,
  project_id  TEXT NOT NULL DEFAULT '',
  channel     TEXT NOT NULL DEFAULT '',
  created_at  TEXT NOT NULL,
  resolved    INTEGER NOT NULL DEFAULT 0,
  start_time  TEXT,
  end_time    TEXT,
  keywords    TEXT NOT NULL DEFAULT '',
  summary     TEXT NOT NULL
) STRICT;
CREATE INDEX episodes_age ON episodes(agent_id, created_at, id);
`;

const PROFILES = `
CREATE TABLE profiles (
  agent_id    TEXT NOT NULL,
  user_id     TEXT NOT NULL DEFAULT '',
  content     TEXT NOT NULL,
  updated_at  TEXT NOT NULL,
  PRIMARY KEY (agent_id, user_id)
) STRICT;
`;

/** Every bucket that was ever written to, with the rows it holds now: pool sizes without counting rows. */
const SCOPES = `
CREATE TABLE scopes (
  code        INTEGER PRIMARY KEY,
  agent_id    TEXT NOT NULL,
  project_id  TEXT NOT NULL,
  channel     TEXT NOT NULL,
  memories    INTEGER NOT NULL DEFAULT 0,
  episodes    INTEGER NOT NULL DEFAULT 0,
  UNIQUE (agent_id, project_id, channel)
) STRICT;
CREATE TRIGGER scopes_memory_in AFTER INSERT ON memories BEGIN
  UPDATE scopes SET memories = memories + 1 WHERE code = NEW.scope;
END;
CREATE TRIGGER scopes_memory_out AFTER DELETE ON memories BEGIN
  UPDATE scopes SET memories = memories - 1 WHERE code = OLD.scope;
END;
CREATE TRIGGER scopes_episode_in AFTER INSERT ON episodes BEGIN
  UPDATE scopes SET episodes = episodes + 1 WHERE code = NEW.scope;
END;
CREATE TRIGGER scopes_episode_out AFTER DELETE ON episodes BEGIN
  UPDATE scopes SET episodes = episodes - 1 WHERE code = OLD.scope;
END;
`;

/** Vectors with the identity of what made them; one row per embedded block. The log feeds index files. */
const EMBEDDINGS = `
CREATE TABLE embedders (
  code        INTEGER PRIMARY KEY,
  identity    TEXT NOT NULL UNIQUE,
  dimension   INTEGER NOT NULL
) STRICT;
CREATE TABLE embeddings (
  id          INTEGER PRIMARY KEY,
  record_key  INTEGER NOT NULL,
  embedder    INTEGER NOT NULL REFERENCES embedders(code),
  block       INTEGER NOT NULL DEFAULT 0,
  start_char  INTEGER NOT NULL DEFAULT 0,
  end_char    INTEGER NOT NULL,
  vector      BLOB NOT NULL,
  UNIQUE (record_key, embedder, block)
) STRICT;
CREATE TABLE vector_changes (
  sequence    INTEGER PRIMARY KEY AUTOINCREMENT,
  record_key  INTEGER NOT NULL
) STRICT;
`;

/**
 * How often a record was recalled, and which records were used together: changes no ranking of recall while
 * confidence is off. `weight` is the decayed count as it stood at `last_recalled_at` or `moment` (ms).
 */
const USES = `
CREATE TABLE uses (
  record_key       INTEGER PRIMARY KEY,
  recall_count     INTEGER NOT NULL DEFAULT 0,
  weight           REAL NOT NULL DEFAULT 0,
  last_recalled_at TEXT
) STRICT;
CREATE TABLE co_uses (
  low_key     INTEGER NOT NULL,
  high_key    INTEGER NOT NULL,
  weight      REAL NOT NULL,
  moment      REAL NOT NULL,
  PRIMARY KEY (low_key, high_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX co_uses_high ON co_uses(high_key, low_key);
`;

/** Declared edges between records, by record key. They go with either end, whoever deletes it. */
const RELATIONS = `
CREATE TABLE relations (
  from_key    INTEGER NOT NULL,
  to_key      INTEGER NOT NULL,
  type        TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (from_key, to_key, type)
) STRICT, WITHOUT ROWID;
CREATE INDEX relations_to ON relations(to_key, from_key);
CREATE TRIGGER relations_memory_out AFTER DELETE ON memories BEGIN
  DELETE FROM relations WHERE from_key = OLD.id * 2;
  DELETE FROM relations WHERE to_key = OLD.id * 2;
  DELETE FROM co_uses WHERE low_key = OLD.id * 2;
  DELETE FROM co_uses WHERE high_key = OLD.id * 2;
END;
CREATE TRIGGER relations_episode_out AFTER DELETE ON episodes BEGIN
  DELETE FROM relations WHERE from_key = OLD.id * 2 + 1;
  DELETE FROM relations WHERE to_key = OLD.id * 2 + 1;
  DELETE FROM co_uses WHERE low_key = OLD.id * 2 + 1;
  DELETE FROM co_uses WHERE high_key = OLD.id * 2 + 1;
END;
`;

/** What ambient recall showed lately in each session: damps a repeat there, ranks nothing else. */
const SHOWINGS = `
CREATE TABLE showings (
  session     TEXT NOT NULL,
  record_key  INTEGER NOT NULL,
  turn        INTEGER NOT NULL,
  shown_at    TEXT NOT NULL,
  PRIMARY KEY (session, record_key, turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX showings_age ON showings(shown_at);
`;

/** Contentless: the text is in the records already. Written by store/lexical.ts, in the record's transaction. */
const LEXICAL = `
CREATE VIRTUAL TABLE memory_terms USING fts5(terms, content='', contentless_delete=1, ${TERMS_TOKENIZER});
CREATE VIRTUAL TABLE episode_terms USING fts5(terms, content='', contentless_delete=1, ${TERMS_TOKENIZER});
CREATE VIRTUAL TABLE memory_trigrams USING fts5(text, content='', contentless_delete=1, tokenize='trigram');
CREATE VIRTUAL TABLE episode_trigrams USING fts5(text, content='', contentless_delete=1, tokenize='trigram');
`;

/** Small named values: the database's own id, calibration. */
const SETTINGS = `
CREATE TABLE settings (
  name        TEXT PRIMARY KEY,
  value       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO settings VALUES ('database_id', lower(hex(randomblob(16))));
`;

/** Records of which a stretch waits for its vectors, see `store/embeddings.ts`. */
const WAITING = `
CREATE INDEX embeddings_waiting ON embeddings(embedder, record_key) WHERE length(vector) = 0 AND end_char > 0;
`;

/**
 * What vector services were given: a record under an agent's name, and the hash of the text that a service
 * confirmed; empty while that is open. Compared with the records, it tells what to push and what to remove.
 */
const REMOTE_ROWS = `
CREATE TABLE remote_rows (
  service     TEXT NOT NULL,
  record_key  INTEGER NOT NULL,
  agent_id    TEXT NOT NULL,
  content_hash BLOB NOT NULL,
  PRIMARY KEY (service, record_key, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX remote_rows_agent ON remote_rows(service, agent_id);
`;

/**
 * Long operations under way, so that one whose process is gone is finished or undone by another. `job_rows` holds
 * the records that a job has dealt with: for a merge with the target's record that stands for them, for an import
 * those it put in. `job_undo` holds what else an import changed.
 */
const JOBS = `
CREATE TABLE jobs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  kind        TEXT NOT NULL,
  agents      TEXT NOT NULL,
  state       TEXT NOT NULL,
  done        INTEGER NOT NULL,
  total       INTEGER NOT NULL,
  owner       TEXT NOT NULL,
  lease_until REAL NOT NULL,
  started_at  TEXT NOT NULL
) STRICT;
CREATE TABLE job_rows (
  job         INTEGER NOT NULL,
  record_key  INTEGER NOT NULL,
  other_key   INTEGER,
  PRIMARY KEY (job, record_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_rows_record ON job_rows(record_key);
CREATE TABLE job_undo (
  id          INTEGER PRIMARY KEY,
  job         INTEGER NOT NULL,
  entry       TEXT NOT NULL
) STRICT;
CREATE INDEX job_undo_job ON job_undo(job, id);
-- A record that is gone, or that somebody changed, is no longer the import's to take back.
CREATE TRIGGER job_rows_memory_out AFTER DELETE ON memories BEGIN
  DELETE FROM job_rows WHERE record_key = OLD.id * 2;
END;
CREATE TRIGGER job_rows_episode_out AFTER DELETE ON episodes BEGIN
  DELETE FROM job_rows WHERE record_key = OLD.id * 2 + 1;
END;
CREATE TRIGGER job_rows_memory_changed AFTER UPDATE OF content, locked ON memories BEGIN
  DELETE FROM job_rows WHERE record_key = OLD.id * 2 AND other_key IS NULL;
END;
-- A record that moves to another bucket takes its place in the count along.
CREATE TRIGGER scopes_memory_moved AFTER UPDATE OF scope ON memories WHEN OLD.scope <> NEW.scope BEGIN
  UPDATE scopes SET memories = memories - 1 WHERE code = OLD.scope;
  UPDATE scopes SET memories = memories + 1 WHERE code = NEW.scope;
END;
CREATE TRIGGER scopes_episode_moved AFTER UPDATE OF scope ON episodes WHEN OLD.scope <> NEW.scope BEGIN
  UPDATE scopes SET episodes = episodes - 1 WHERE code = OLD.scope;
  UPDATE scopes SET episodes = episodes + 1 WHERE code = NEW.scope;
END;
`;

/** Step i takes a database from schema i to schema i + 1. Landed steps never change. */
export const MIGRATIONS: readonly string[] = [
  MEMORIES + EPISODES + PROFILES + SCOPES + EMBEDDINGS + USES + RELATIONS + SHOWINGS + LEXICAL + SETTINGS,
  WAITING,
  REMOTE_ROWS,
  JOBS,
];

export const SCHEMA_VERSION = MIGRATIONS.length;
