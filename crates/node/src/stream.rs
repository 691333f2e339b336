//! The yardstick of benchmarks: how fast does this machine read memory?

use napi_derive::napi;

use crate::arguments;
use crate::error::Result;

/// XOR of all whole 32-bit words.
#[napi(catch_unwind)]
pub fn xor_words(bytes: &[u8], threads: f64) -> Result<u32> {
    Ok(cpersona_kernels::xor_words(bytes, arguments::threads(Some(threads))?))
}
