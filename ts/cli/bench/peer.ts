// CPersona beside ours: the same rows with the same vectors, in a process of its own.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeVector } from "../../domain/vector-bytes.js";
import { AGENT, type Corpus, messageOf } from "./corpus.js";
import type { EmbedServer } from "./embed-server.js";
import { openSession, type ServerCommand } from "./session.js";
import { say } from "./table.js";

/** About half a second's work; the client waits a minute for an answer. */
const ROWS_PER_IMPORT = 1000;

export interface PeerOptions {
  /** Python with `cpersona` */
  readonly python: string;
  /** for its database */
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly embedder: Pick<EmbedServer, "embed">;
}

export class Peer {
  readonly server: ServerCommand;
  readonly #options: PeerOptions;

  constructor(options: PeerOptions) {
    const { python, folder, settings } = options;
    this.#options = options;
    this.server = {
      command: python,
      args: ["-m", "cpersona"],
      env: {
        ...process.env,
        ...settings,
        CPERSONA_DB_PATH: join(folder, "cpersona.db"),
        CPERSONA_EXPORT_DIR: folder,
        CPERSONA_BLOCK_BUILD_ENABLED: "false",
        CPERSONA_UPDATE_CHECK: "false",
      },
    };
  }

  /** Takes the first rows in by its own import. Throws when one of them, or its vector, was not taken. */
  async fill(corpus: Corpus, rows: number): Promise<void> {
    const { folder, embedder } = this.#options;
    const path = join(folder, "import.jsonl");
    const session = await openSession(this.server);
    try {
      for (let from = 0; from < rows; from += ROWS_PER_IMPORT) {
        say(`filling CPersona: ${from} of ${rows}`);
        const count = Math.min(ROWS_PER_IMPORT, rows - from);
        writeFileSync(path, importLines(corpus, embedder, from, count).join("\n"));
        const answer = await session.call("import_memories", { input_path: path });
        const { imported_memories: taken, errors } = JSON.parse(answer) as Record<string, unknown>;
        if (taken !== count || errors !== undefined)
          throw new Error(`CPersona took ${taken} of ${count} rows: ${answer.slice(0, 300)}`);
      }
    } finally {
      await session.close();
    }
  }
}

/**
 * Rows as CPersona's import reads them, equal to those that `store` writes but for the message ids. With ids it
 * looks through all rows for each new one, 50 ms a row at 40,000.
 */
export function importLines(
  corpus: Corpus,
  embedder: Pick<EmbedServer, "embed">,
  from: number,
  count: number,
): string[] {
  return Array.from({ length: count }, (_, run) => {
    const message = messageOf(corpus, from + run);
    const vector = Float32Array.from(embedder.embed(message.content));
    return JSON.stringify({
      _type: "memory",
      agent_id: AGENT,
      project_id: "",
      channel: "",
      ...message,
      embedding_b64: encodeVector(vector),
    });
  });
}
