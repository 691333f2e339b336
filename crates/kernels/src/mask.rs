//! Comparisons of up to 64 values with one bound, answered as a bit set: bit `i` speaks for value `i`.
//! A scan asks these once per 64 rows and then visits only the rows that pass.

use crate::{Kernels, on_level};

/// The most values one mask can speak for.
const WIDTH: usize = 64;

impl Kernels {
    /// Values that are at least `bound`; a NaN on either side never passes.
    ///
    /// # Panics
    /// When there are more than 64 values.
    #[must_use]
    pub fn mask_at_least(self, values: &[f32], bound: f32) -> u64 {
        assert!(values.len() <= WIDTH, "a mask holds 64 values");
        on_level!(self, level => level.mask_at_least(values, bound))
    }

    /// Values that are at most `bound`.
    ///
    /// # Panics
    /// When there are more than 64 values.
    #[must_use]
    pub fn mask_at_most(self, values: &[u32], bound: u32) -> u64 {
        assert!(values.len() <= WIDTH, "a mask holds 64 values");
        on_level!(self, level => level.mask_at_most(values, bound))
    }

    /// Values equal to `wanted`.
    ///
    /// # Panics
    /// When there are more than 64 values.
    #[must_use]
    pub fn mask_equal(self, values: &[u32], wanted: u32) -> u64 {
        assert!(values.len() <= WIDTH, "a mask holds 64 values");
        on_level!(self, level => level.mask_equal(values, wanted))
    }
}
