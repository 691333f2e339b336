//! The yardstick of benchmarks: how fast does this machine read memory?

use napi::Env;
use napi_derive::napi;

use crate::arguments;
use crate::error::thrown;

/// XOR of all whole 32-bit words.
#[napi(catch_unwind)]
pub fn xor_words(env: &Env, bytes: &[u8], threads: f64) -> napi::Result<u32> {
    thrown(env, || Ok(cpersona_kernels::xor_words(bytes, arguments::threads(Some(threads))?)))
}
