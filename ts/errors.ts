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
  /** Another process holds the write lock; the call was not carried out and may be tried again. */
  | "storage_busy"
  /** The disk is full; the call was not carried out. Goes on by itself when there is room again. */
  | "storage_full"
  /** File, folder or file system can only be read; reads go on. */
  | "storage_read_only"
  /** The file system reported an error of its device. */
  | "storage_io"
  /** A part of the database file is damaged; what lies elsewhere can be read. */
  | "storage_damaged"
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

/** The faults of the storage that have words of their own. */
export type StorageFault = Extract<MemoryErrorCode, `storage_${string}`>;

const STORAGE_FAULTS: Readonly<Record<StorageFault, string>> = {
  storage_unavailable:
    "the database file cannot be opened: it is not there, may not be read, or is no SQLite database",
  storage_busy:
    "another process is writing to the database and did not finish in time; this call was not carried out, what was acknowledged before is kept: call again in some seconds",
  storage_full:
    "the disk is full; this call was not carried out, what was acknowledged before is kept: free some space and call again, no restart is needed",
  storage_read_only:
    "the database can only be read here (file, folder or file system); this call was not carried out, reading goes on: make them writable and call again",
  storage_io:
    "the disk reported an error; this call was not carried out, what was acknowledged before is kept: call again, and check the disk and the file system when it comes back",
  storage_damaged:
    "a part of the database file is damaged; this call was not carried out, what lies elsewhere can still be read: run check_health, which names the damaged part, and export what can be read",
};

/** A fault of the storage in our words. `cause` keeps the driver's error for the log. */
export function storageFault(code: StorageFault, cause?: unknown): MemoryError {
  return new MemoryError(code, STORAGE_FAULTS[code], { cause });
}

/** Seconds after which a call that the storage refused may be made again; null where waiting alone does not help. */
export function retryAfterSeconds(code: MemoryErrorCode): number | null {
  if (code === "storage_busy") return 5;
  return code === "storage_unavailable" || code === "storage_io" ? 30 : null;
}

/** Whether the storage failed, and not the call or our code. */
export function isStorageFault(error: unknown): error is MemoryError & { readonly code: StorageFault } {
  return error instanceof MemoryError && error.code in STORAGE_FAULTS;
}

/** Whether another process held the write lock: waiting helps. */
export function isBusy(error: unknown): boolean {
  return error instanceof MemoryError && error.code === "storage_busy";
}

/** The text of an unknown thrown value, for logs. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
