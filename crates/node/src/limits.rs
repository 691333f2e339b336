//! The table of limits as numbers, so that the other side can hold its own against it when it loads the addon.

use napi_derive::napi;

/// The limits, under the names of `ts/native/limits.ts`.
#[napi(object, object_from_js = false)]
pub struct Limits {
    /// The largest dimension of a vector.
    pub max_dimension: f64,
    /// Length of an identity in bytes.
    pub identity_bytes: f64,
    /// The largest key and sequence number.
    pub max_key: f64,
    /// The most records of a list.
    pub max_list: f64,
    /// The most rows of an index.
    pub max_rows: f64,
    /// The most threads of a scan.
    pub max_threads: f64,
}

/// The bounds that this addon holds.
#[napi(catch_unwind)]
pub fn limits() -> Limits {
    Limits {
        max_dimension: cpersona_limits::MAX_DIMENSION as f64,
        identity_bytes: cpersona_limits::IDENTITY_BYTES as f64,
        max_key: cpersona_limits::MAX_KEY as f64,
        max_list: cpersona_limits::MAX_LIST as f64,
        max_rows: cpersona_limits::MAX_ROWS as f64,
        max_threads: cpersona_limits::MAX_THREADS as f64,
    }
}
