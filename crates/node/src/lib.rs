//! The Node addon: thin mirrors of the native crates, typed arrays both ways, error codes, no panic that
//! reaches Node. It holds no logic of its own and reads no environment.
//!
//! Each synchronous entry carries `catch_unwind`; `task` does the same once for all work off the main thread.

#![deny(unsafe_code)]
#![expect(missing_debug_implementations, reason = "types for the binding macro; nothing prints them")]

pub mod arguments;
pub mod error;
pub mod fusion;
pub mod limits;
#[cfg(feature = "dev-entries")]
pub mod panic;
pub mod simd;
pub mod static_table;
#[cfg(feature = "dev-entries")]
pub mod stream;
pub mod task;
pub mod vector_index;

use napi_derive::napi;

/// Version of the addon, equal to that of the npm packages.
#[napi(catch_unwind)]
pub fn addon_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
