//! The bounds of what crosses the native border. `ts/native/limits.ts` has the same table: the addon hands its
//! copy over when it is loaded, and one with other bounds is refused.

#![forbid(unsafe_code)]

/// The largest dimension of a vector, in elements.
pub const MAX_DIMENSION: usize = 16_384;

/// Length of the name that tells one source of vectors from another, in bytes.
pub const IDENTITY_BYTES: usize = 16;

/// The largest key, and the largest sequence number: 2^53 - 1, the last whole number that a double tells from
/// its neighbours.
pub const MAX_KEY: u64 = (1 << 53) - 1;

/// The most records that a list of a search may ask for.
pub const MAX_LIST: u64 = u32::MAX as u64;

/// The most rows an index may hold: row numbers are 32 bits wide.
pub const MAX_ROWS: u64 = u32::MAX as u64;

/// The most threads that may share a scan.
pub const MAX_THREADS: usize = 256;
