// The one profile of an agent.

import type { Database } from "./database.js";

export class Profiles {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The agent's profile text, or null when there is none. */
  get(agentId: string): string | null {
    const content = this.#db.value(
      "SELECT content FROM profiles WHERE agent_id = ? AND user_id = ''",
      agentId,
    );
    return content === undefined ? null : String(content);
  }

  /** Replaces the agent's profile. */
  put(agentId: string, content: string, updatedAt: string): void {
    this.#db
      .sql(
        `INSERT INTO profiles (agent_id, user_id, content, updated_at) VALUES (?, '', ?, ?)
         ON CONFLICT (agent_id, user_id) DO UPDATE SET content = excluded.content, updated_at = excluded.updated_at`,
      )
      .run(agentId, content, updatedAt);
  }

  /** Returns how many profiles there were. */
  delete(agentId: string): number {
    return this.#db.sql("DELETE FROM profiles WHERE agent_id = ?").run(agentId).changes;
  }
}
