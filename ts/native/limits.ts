// The bounds of what crosses the native border. `crates/limits` has the same table; an addon with other bounds is
// refused when it is loaded.

/** Names are those that the addon hands over. */
export interface Limits {
  /** largest dimension of a vector, in elements */
  readonly maxDimension: number;
  /** length of an index's identity, in bytes */
  readonly identityBytes: number;
  /** largest record key and sequence number */
  readonly maxKey: number;
  /** most records that one list of a search may ask for */
  readonly maxList: number;
  /** most rows that an index may hold */
  readonly maxRows: number;
  /** most threads that may share a scan */
  readonly maxThreads: number;
}

export const LIMITS: Limits = {
  maxDimension: 16_384,
  identityBytes: 16,
  maxKey: Number.MAX_SAFE_INTEGER,
  maxList: 0xffff_ffff,
  maxRows: 0xffff_ffff,
  maxThreads: 256,
};

/** Names of the limits that another table has differently, or not at all. */
export function differingLimits(other: Partial<Limits> | undefined): string[] {
  return Object.entries(LIMITS)
    .filter(([name, bound]) => other?.[name as keyof Limits] !== bound)
    .map(([name]) => name);
}
