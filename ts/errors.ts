// The only place where errors get their words. Messages name the field and the rule, never SQL, paths of
// other people's files or stored text.

/** What went wrong, for callers that branch. */
export type MemoryErrorCode =
  /** An argument broke its rule; nothing was done. */
  | "invalid_argument"
  /** The named row does not exist or belongs to somebody else. */
  | "not_found"
  /** The row is locked against edits and deletion. */
  | "locked"
  /** The database file cannot be opened, read or written. */
  | "storage_unavailable"
  /** The database was written by a newer version, or by another program. */
  | "schema_mismatch"
  /** No SQLite driver can be loaded. */
  | "driver_missing"
  /** The embedding backend failed or answered nonsense. */
  | "embedding_failed"
  /** The vector index cannot be used; recall goes on without it. */
  | "index_unavailable"
  /** A setting has a value that cannot be replaced by a default. */
  | "invalid_setting"
  /** A file to be imported is cut, damaged or of another kind; nothing was imported. */
  | "damaged_file"
  /** A model could not be fetched; the models that were there are unchanged. */
  | "download_failed"
  /** The caller may not do that. */
  | "permission_denied"
  /** A bug of ours. */
  | "internal";

export class MemoryError extends Error {
  readonly code: MemoryErrorCode;
  /** Name of the offending argument or setting, where there is one. */
  readonly field: string | undefined;
  /** More for a caller that branches, under the names it has on the wire. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: MemoryErrorCode,
    message: string,
    options: { field?: string; cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "MemoryError";
    this.code = code;
    this.field = options.field;
    this.details = options.details ?? {};
  }
}

/** An argument that breaks its rule: `invalidArgument("limit", "must be a whole number from 0 to 100")`. */
export function invalidArgument(field: string, rule: string): MemoryError {
  return new MemoryError("invalid_argument", `${field} ${rule}`, { field });
}

/** The text of an unknown thrown value, for logs. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
