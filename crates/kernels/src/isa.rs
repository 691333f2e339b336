//! Which instruction sets exist, in order of preference, and whether this CPU has them.
//! Reads no settings: whoever wants another level than the best one names it.

use std::fmt;
use std::str::FromStr;

/// An instruction set that the kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// AVX-512 F, BW and VL with VNNI and VPOPCNTDQ.
    Avx512,
    /// AVX2 with FMA and POPCNT, without VNNI.
    Avx2,
    /// 128-bit Advanced SIMD, which every aarch64 CPU has.
    Neon,
    /// Portable Rust: the reference for all others.
    Scalar,
}

impl Isa {
    /// Every level, best first; levels of other architectures are in the list and never available.
    pub const PREFERENCE: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Neon, Self::Scalar];

    /// The levels of this CPU, best first; the last one is always [`Isa::Scalar`].
    pub fn available() -> impl Iterator<Item = Self> {
        Self::PREFERENCE.into_iter().filter(|isa| isa.is_available())
    }

    /// Whether this CPU, under this operating system, can run the level.
    #[must_use]
    pub fn is_available(self) -> bool {
        crate::Kernels::for_isa(self).is_some()
    }

    /// Lower-case name: `avx512`, `avx2`, `neon` or `scalar`. [`FromStr`] reads the same names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Scalar => "scalar",
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The text names no instruction set that the kernels know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownIsa;

impl fmt::Display for UnknownIsa {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("unknown instruction set: use avx512, avx2, neon or scalar")
    }
}

impl std::error::Error for UnknownIsa {}

impl FromStr for Isa {
    type Err = UnknownIsa;

    fn from_str(text: &str) -> Result<Self, UnknownIsa> {
        Self::PREFERENCE.into_iter().find(|isa| isa.name() == text).ok_or(UnknownIsa)
    }
}
