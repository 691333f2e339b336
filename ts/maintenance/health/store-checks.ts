// Checks that look at more than single memories: files, indexes, vectors, episodes, settings.

import { parseInstant } from "../../domain/time.js";
import { countChars } from "../../text/characters.js";
import { cleanText } from "../../text/clean.js";
import { normaliseText } from "../../text/normalise.js";
import type { Finding } from "./check.js";
import { closeFiles, openFiles } from "./files.js";
import type { HealthParts } from "./parts.js";

export interface StoreCheck {
  find(agentId: string | null, parts: HealthParts): Finding | null | Promise<Finding | null>;
  /** Returns how many things it changed. */
  repair?(agentId: string | null, parts: HealthParts): number | Promise<number>;
}

/** Vectors whose values are read; more are left to the next run. */
const MAX_READ_VECTORS = 20_000;
/** Rows embedded by one repair; the background does the rest. */
const MAX_FILLED = 5000;
/** Changes that an index may lag behind without anybody noticing. */
const MAX_BEHIND = 512;
const SUMMARY_WARN_CHARS = 3000;

function counted(count: number, more: Omit<Finding, "count"> = {}): Finding | null {
  return count === 0 ? null : { count, ...more };
}

function missingVectors(kind: "memories" | "episodes"): StoreCheck {
  return {
    find: (agentId, parts) => {
      const count = parts.backfill.pending(agentId)[kind];
      const total = parts.counts(agentId)[kind];
      const done = total - count;
      return counted(count, {
        repairable: count,
        hint: `${done} of ${total} ${kind} embedded with the present model; the others are found by their words, the server fills them in by itself`,
        details: { embedded: done, total },
      });
    },
    repair: async (_, parts) => (await parts.backfill.run(MAX_FILLED)).embedded,
  };
}

function badVectors(which: "width" | "values"): StoreCheck {
  const find = (agentId: string | null, { rows }: HealthParts): number[] =>
    rows.badVectors(agentId, MAX_READ_VECTORS)[which];
  return {
    find: (agentId, parts) => {
      const { length } = find(agentId, parts);
      return counted(length, {
        repairable: length,
        hint: "a repair removes the vectors; they are made anew",
      });
    },
    repair: (agentId, parts) => {
      const keys = find(agentId, parts);
      parts.transaction(() => parts.dropVectors(keys));
      return keys.length;
    },
  };
}

export const STORE_CHECKS: Readonly<Record<string, StoreCheck | undefined>> = {
  sqlite_integrity: {
    find: (_, { rows }) =>
      counted(rows.quickCheck().length, {
        hint: "restore a backup, or export what can be read and import it",
      }),
  },
  schema_version: {
    find: (_, { rows, knownSchema }) =>
      rows.schemaVersion() === knownSchema ? null : { count: 1, details: { version: rows.schemaVersion() } },
  },
  schema_objects: {
    find: (_, parts) => {
      const faults = parts.schemaFaults();
      return counted(faults.length, {
        repairable: faults.filter(({ type }) => type !== "table").length,
        details: { objects: faults.map(({ name, fault }) => `${name} ${fault}`) },
      });
    },
    repair: (_, parts) => {
      const faults = parts.schemaFaults().filter(({ type }) => type !== "table");
      parts.transaction(() => {
        for (const fault of faults) parts.repairSchemaFault(fault);
      });
      return faults.length;
    },
  },
  fts_integrity: {
    find: (_, parts) =>
      parts.isLexicalIntact()
        ? null
        : { count: 1, repairable: 1, hint: "the words index is broken; a repair builds it anew" },
    repair: async (_, parts) => ((await parts.repairLexical()) ? 1 : 0),
  },
  embedding_dimension: badVectors("width"),
  nonfinite_embedding: badVectors("values"),
  null_embedding: missingVectors("memories"),
  null_episode_embedding: missingVectors("episodes"),
  embedding_backend: {
    find: (_, { embedder }) => {
      const state = embedder.state();
      if (state.status === "off")
        return { count: 1, hint: "embeddings are switched off: recall is by words only" };
      if (state.status !== "failing") return null;
      return { count: 1, severity: "warn", hint: state.detail, details: { reason: state.reason } };
    },
  },
  embedding_model: {
    find: (_, { rows, embedderCode }) => {
      const code = embedderCode();
      const others = rows.vectorsByEmbedder().filter((row) => row.code !== code);
      if (code === null || others.length === 0) return null;
      return {
        count: others.reduce((sum, { records }) => sum + records, 0),
        repairable: others.length,
        hint: "vectors of the embedder before are kept in case you go back; a repair removes them",
        details: { embedders: others.map(({ identity, records }) => ({ identity, records })) },
      };
    },
    repair: (_, { rows, embedderCode, transaction }) => {
      const code = embedderCode();
      return code === null ? 0 : transaction(() => rows.removeOtherVectors(code));
    },
  },
  background_work: {
    find: (_, { standing }) => {
      const works = standing();
      return counted(works.length, {
        hint: "background work stands still and is tried again by itself; the reason says what would help",
        details: {
          works: works.map(({ name, since, reason, failures }) => {
            return { name, since: new Date(since).toISOString(), reason, failures };
          }),
        },
      });
    },
  },
  remote_vectors: {
    find: (agentId, { remote }) => {
      if (remote === null) return null;
      const [count, failure] = [remote.push.pending(agentId), remote.failure()];
      if (failure !== null) return { count: Math.max(1, count), hint: failure };
      return counted(count, {
        repairable: count,
        hint: "records that the vector service has not confirmed; they are pushed by themselves",
      });
    },
    repair: async (agentId, { remote }) => {
      const before = remote?.push.pending(agentId) ?? 0;
      await remote?.push.run();
      return before - (remote?.push.pending(agentId) ?? 0);
    },
  },
  vector_index: {
    find: async (_, { vectors, areVectorFilesIntact }) => {
      if (!(await areVectorFilesIntact()))
        return {
          count: 1,
          repairable: 1,
          severity: "warn",
          hint: "the vector index is damaged; a repair builds it anew",
        };
      const behind = vectors()?.behind ?? 0;
      if (behind <= MAX_BEHIND) return null;
      return {
        count: behind,
        repairable: 1,
        hint: "the vector index lags behind; it is brought up to date by itself",
      };
    },
    repair: async (_, parts) => {
      if (await parts.areVectorFilesIntact()) await parts.syncVectors();
      else await parts.rebuildVectors();
      return 1;
    },
  },
  native_core: {
    find: (_, { native }) =>
      native.kind === "native"
        ? null
        : { count: 1, hint: native.notice ?? "search runs in plain TypeScript, slower" },
  },
  sqlite_version: {
    find: (_, { rows, driver }) =>
      hasWalFix(rows.sqliteVersion())
        ? null
        : {
            count: 1,
            hint: "this SQLite can lose writes when several processes share the file; take 3.51.3 or newer",
            details: { driver, version: rows.sqliteVersion() },
          },
  },
  scope_counts: {
    find: (_, { rows }) => {
      const count = rows.scopeDrift();
      return counted(count, { repairable: count, hint: "pool sizes are off; a repair counts anew" });
    },
    repair: (_, { rows, transaction }) => transaction(() => rows.recountScopes()),
  },
  orphaned_rows: {
    find: (_, { rows }) => {
      const count = rows.orphans();
      return counted(count, { repairable: count, hint: "vectors and uses of records that are gone" });
    },
    repair: (_, { rows, transaction }) => transaction(() => rows.removeOrphans()),
  },
  oversized_profile: {
    find: (agentId, parts) => {
      const { length } = longProfiles(agentId, parts);
      return counted(length, { repairable: length, hint: "a repair cuts the profile to the cap for good" });
    },
    repair: (agentId, parts) => {
      const profiles = longProfiles(agentId, parts);
      const { profileChars } = parts.config.limits;
      for (const profile of profiles)
        parts.putProfile({ ...profile, content: cleanText(profile.content, profileChars).text });
      return profiles.length;
    },
  },
  duplicate_content: {
    find: (agentId, { rows }) => {
      const copies = rows.narrowCopies(agentId);
      return counted(copies.length, {
        repairable: copies.filter((copy) => !copy.locked).length,
        hint: "copies in a project or channel of what a wider bucket holds; a repair deletes the narrow ones",
      });
    },
    repair: (agentId, { rows, deleteMemory, transaction }) => {
      const copies = rows.narrowCopies(agentId).filter((copy) => !copy.locked);
      transaction(() => {
        for (const { id } of copies) deleteMemory(id);
      });
      return copies.length;
    },
  },
  future_episode_timestamp: {
    find: (agentId, parts) => {
      const { length } = futureEpisodes(agentId, parts);
      return counted(length, { repairable: length, hint: "a repair puts the storage time in its place" });
    },
    repair: (agentId, parts) => {
      const ids = futureEpisodes(agentId, parts);
      parts.transaction(() => {
        for (const { id, createdAt } of ids) parts.rows.setEpisodeStart(id, createdAt);
      });
      return ids.length;
    },
  },
  axis_hygiene: {
    find: (agentId, { rows }) => {
      const groups = new Map<string, string[]>();
      for (const { agentId: agent, projectId } of rows.projects(agentId)) {
        const key = JSON.stringify([agent, foldName(projectId)]);
        groups.set(key, [...(groups.get(key) ?? []), projectId]);
      }
      const alike = [...groups.values()].filter((names) => names.length > 1);
      return counted(alike.length, {
        hint: "projects whose names differ only in spelling do not see each other's rows",
        details: { projects: alike.slice(0, 20) },
      });
    },
  },
  missing_profile: { find: (agentId, { rows }) => counted(rows.agentsWithoutProfile(agentId)) },
  operating_context_parse: {
    find: async (_, { operatingContext }) => {
      const state = await operatingContext.read();
      return state.state === "unreadable" ? { count: 1, hint: `the file is ignored: ${state.reason}` } : null;
    },
  },
  operating_context_size: {
    find: async (_, { operatingContext }) => {
      const state = await operatingContext.read();
      const chars = state.state === "present" ? countChars(state.context.summary) : 0;
      return chars <= SUMMARY_WARN_CHARS
        ? null
        : { count: chars, hint: "every session pays for a long summary" };
    },
  },
  file_permissions: {
    find: (_, { config }) => {
      const { length } = openFiles(config.database.path, config.ambient.hook.logFile);
      return counted(length, {
        repairable: length,
        hint: "other accounts may open files of the store or its vector index; a repair (fix) makes files 0600 and folders 0700",
      });
    },
    repair: (_, { config }) => closeFiles(openFiles(config.database.path, config.ambient.hook.logFile)),
  },
};

function longProfiles(agentId: string | null, { config, profiles }: HealthParts) {
  return profiles(agentId).filter(({ content }) => countChars(content) > config.limits.profileChars);
}

function futureEpisodes(agentId: string | null, { rows, clock, config }: HealthParts) {
  const latest = clock.now() + config.limits.futureSkewMs;
  const found: { id: number; createdAt: string }[] = [];
  for (let after = 0; ; ) {
    const page = rows.episodesAfter(agentId, after, 1000);
    if (page.length === 0) return found;
    for (const { id, startTime, createdAt } of page)
      if ((parseInstant(startTime) ?? Number.NEGATIVE_INFINITY) > latest) found.push({ id, createdAt });
    after = page[page.length - 1]?.id as number;
  }
}

/** Names that differ in case, width, blanks or punctuation only are one name to people. */
function foldName(name: string): string {
  const folded = normaliseText(name)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
  return folded === "" ? name : folded;
}

/** The WAL-reset fault was mended in 3.51.3 and in the older lines 3.50.7 and 3.44.6. */
export function hasWalFix(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const number = major * 1_000_000 + minor * 1000 + patch;
  if (number >= 3_051_003) return true;
  return (minor === 50 && patch >= 7) || (minor === 44 && patch >= 6);
}
