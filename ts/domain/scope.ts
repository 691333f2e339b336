// The isolation axes together, for writing and for reading. The SQL form of a read scope is store/scope-sql.ts.

/** The bucket a record is written to. `""` is the global pool (project) and the shared channel. */
export interface WriteScope {
  readonly agentId: string;
  readonly projectId: string;
  readonly channel: string;
}

/**
 * What a read may see.
 * - agent: equality; null sees all agents (lists for an operator only).
 * - project: null sees all, `""` the global pool, `X` sees X and the global pool.
 * - channel: null or `""` sees all, `C` sees C and the shared channel.
 * - excludeTags: memories with a tag that contains one of these texts are not seen; episodes have no tags.
 */
export interface ReadScope {
  readonly agentId: string | null;
  readonly projectId: string | null;
  readonly channel: string | null;
  readonly excludeTags?: readonly string[] | undefined;
}

/** Sees every row. */
export const EVERYTHING: ReadScope = { agentId: null, projectId: null, channel: null };

/** Restriction of memories by the id inside their `source`; null restricts nothing. */
export interface SourceFilter {
  readonly id: string;
  /** true: the id must be equal; false: it must start with `id` */
  readonly exact: boolean;
}

/** A filter that ends in a letter or digit means exactly that id, any other ending means a prefix. */
export function sourceFilter(sourceId: string | null | undefined): SourceFilter | null {
  if (sourceId === undefined || sourceId === null || sourceId === "") return null;
  return { id: sourceId, exact: /[\p{L}\p{N}]$/u.test(sourceId) };
}
