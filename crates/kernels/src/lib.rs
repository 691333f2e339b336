//! Inner loops of the vector scan: how a query compares with many rows that lie one behind the other.
//! Knows slices of numbers only; allocates nothing, reads no settings, has no dependencies.
//!
//! | function | computes | agreement with [`Isa::Scalar`] |
//! | --- | --- | --- |
//! | `dot_f32` | Σ qᵢ rᵢ in float32 | within (n + 8) · 2⁻²³ · Σ \|qᵢ rᵢ\|, n the dimension |
//! | `dot_i8` | Σ qᵢ rᵢ in wrapping int32, all of −128..=127 allowed | equal |
//! | `hamming` | number of differing bits of packed words | equal |
//! | `mask_*` | one bit per value that passes a comparison | equal |
//!
//! | target | levels, best first |
//! | --- | --- |
//! | x86_64 | AVX-512 (F, BW, VL, VNNI, VPOPCNTDQ), AVX2 (FMA, POPCNT), scalar |
//! | aarch64 | NEON, scalar |
//! | others | scalar |
//!
//! Within one level the value for a row does not depend on the entry point: `dot_f32`, `dot_f32_rows` and
//! `dot_f32_at` give the same bits for the same row, whatever its address and neighbours.

#![deny(unsafe_code)]

mod arch;
mod dot;
mod hamming;
mod isa;
mod mask;
#[cfg(feature = "bench")]
mod stream;

use std::sync::OnceLock;

pub use isa::{Isa, UnknownIsa};
#[cfg(feature = "bench")]
pub use stream::xor_words;

use arch::scalar::Scalar;

/// The kernels of one instruction set. A value exists only for a level that this CPU has, so calls need no
/// check. Shapes are asserted: a slice of the wrong length panics, it never reads outside.
#[derive(Clone, Copy, Debug)]
pub struct Kernels(Level);

/// A level together with the proof that the CPU has it.
#[derive(Clone, Copy, Debug)]
enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx512(arch::x86_64::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(arch::x86_64::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(arch::aarch64::Neon),
    Scalar(Scalar),
}

/// Runs one expression on whichever level is in use.
macro_rules! on_level {
    ($kernels:expr, $level:ident => $call:expr) => {
        match $kernels.0 {
            #[cfg(target_arch = "x86_64")]
            $crate::Level::Avx512($level) => $call,
            #[cfg(target_arch = "x86_64")]
            $crate::Level::Avx2($level) => $call,
            #[cfg(target_arch = "aarch64")]
            $crate::Level::Neon($level) => $call,
            $crate::Level::Scalar($level) => $call,
        }
    };
}
pub(crate) use on_level;

impl Kernels {
    /// The best level of this CPU, detected once per process.
    #[must_use]
    pub fn best() -> Self {
        static BEST: OnceLock<Kernels> = OnceLock::new();
        *BEST.get_or_init(|| {
            Isa::PREFERENCE.into_iter().find_map(Self::for_isa).unwrap_or(Self(Level::Scalar(Scalar)))
        })
    }

    /// The kernels of one level, or `None` where this CPU does not have it.
    #[must_use]
    pub fn for_isa(isa: Isa) -> Option<Self> {
        let level = match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Level::Avx512(arch::x86_64::Avx512::detect()?),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Level::Avx2(arch::x86_64::Avx2::detect()?),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => Level::Neon(arch::aarch64::Neon::detect()?),
            Isa::Scalar => Level::Scalar(Scalar),
            _ => return None,
        };
        Some(Self(level))
    }

    /// Which level these kernels use.
    #[must_use]
    pub const fn isa(self) -> Isa {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) => Isa::Avx512,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(_) => Isa::Avx2,
            #[cfg(target_arch = "aarch64")]
            Level::Neon(_) => Isa::Neon,
            Level::Scalar(_) => Isa::Scalar,
        }
    }
}

impl Default for Kernels {
    fn default() -> Self {
        Self::best()
    }
}
