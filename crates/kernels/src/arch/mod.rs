//! One file per instruction set, each with the same methods on a token that only detection makes.
//! Intrinsics, and `unsafe`, occur here and nowhere else in the crate.

pub(crate) mod scalar;

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads and calls into code that needs a detected CPU feature")]
pub(crate) mod x86_64;

#[cfg(target_arch = "aarch64")]
#[expect(unsafe_code, reason = "vector loads and calls into code that needs a detected CPU feature")]
pub(crate) mod aarch64;
