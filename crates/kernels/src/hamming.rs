//! Hamming distance over rows of packed bits: checks the shapes, then hands over to the level in use.

use crate::dot::{check_at, check_rows};
use crate::{Kernels, on_level};

impl Kernels {
    /// Number of bits in which two packed vectors of equal length differ.
    ///
    /// # Panics
    /// When the lengths differ.
    #[must_use]
    pub fn hamming(self, query: &[u64], row: &[u64]) -> u32 {
        assert_eq!(query.len(), row.len(), "query and row differ in length");
        let mut out = [0];
        self.hamming_rows(query, row, &mut out);
        out[0]
    }

    /// `out[i]` becomes the Hamming distance of `query` and row `i` of `rows`, which are contiguous.
    ///
    /// # Panics
    /// When `rows` does not hold exactly `out.len()` rows of `query.len()` words.
    pub fn hamming_rows(self, query: &[u64], rows: &[u64], out: &mut [u32]) {
        check_rows(query.len(), rows.len(), out.len());
        if query.is_empty() {
            return out.fill(0);
        }
        on_level!(self, level => level.hamming_rows(query, rows, out));
    }

    /// `out[i]` becomes the Hamming distance of `query` and row `at[i]` of `rows`: scattered rows.
    ///
    /// # Panics
    /// When `at` and `out` differ in length, or a row lies outside `rows`.
    pub fn hamming_at(self, query: &[u64], rows: &[u64], at: &[u32], out: &mut [u32]) {
        check_at(query.len(), rows.len(), at, out.len());
        if query.is_empty() {
            return out.fill(0);
        }
        on_level!(self, level => level.hamming_at(query, rows, at, out));
    }
}
