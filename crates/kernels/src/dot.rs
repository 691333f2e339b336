//! Dot products over rows: checks the shapes, then hands over to the level in use.

use crate::{Kernels, on_level};

impl Kernels {
    /// Dot product of two float32 vectors of equal length.
    ///
    /// # Panics
    /// When the lengths differ.
    #[must_use]
    pub fn dot_f32(self, query: &[f32], row: &[f32]) -> f32 {
        assert_eq!(query.len(), row.len(), "query and row differ in length");
        let mut out = [0.0];
        self.dot_f32_rows(query, row, &mut out);
        out[0]
    }

    /// `out[i]` becomes the dot product of `query` and row `i` of `rows`, which are contiguous.
    ///
    /// # Panics
    /// When `rows` does not hold exactly `out.len()` rows of `query.len()`.
    pub fn dot_f32_rows(self, query: &[f32], rows: &[f32], out: &mut [f32]) {
        check_rows(query.len(), rows.len(), out.len());
        if query.is_empty() {
            return out.fill(0.0);
        }
        on_level!(self, level => level.dot_f32_rows(query, rows, out));
    }

    /// `out[i]` becomes the dot product of `query` and row `at[i]` of `rows`: scattered rows, fetched ahead.
    ///
    /// # Panics
    /// When `at` and `out` differ in length, or a row lies outside `rows`.
    pub fn dot_f32_at(self, query: &[f32], rows: &[f32], at: &[u32], out: &mut [f32]) {
        check_at(query.len(), rows.len(), at, out.len());
        if query.is_empty() {
            return out.fill(0.0);
        }
        on_level!(self, level => level.dot_f32_at(query, rows, at, out));
    }

    /// Dot product of two int8 vectors of equal length, exact in int32 (wrapping beyond 131,000 elements).
    ///
    /// # Panics
    /// When the lengths differ.
    #[must_use]
    pub fn dot_i8(self, query: &[i8], row: &[i8]) -> i32 {
        assert_eq!(query.len(), row.len(), "query and row differ in length");
        let mut out = [0];
        self.dot_i8_rows(query, row, &mut out);
        out[0]
    }

    /// `out[i]` becomes the int8 dot product of `query` and row `i` of `rows`, which are contiguous.
    ///
    /// # Panics
    /// When `rows` does not hold exactly `out.len()` rows of `query.len()`.
    pub fn dot_i8_rows(self, query: &[i8], rows: &[i8], out: &mut [i32]) {
        check_rows(query.len(), rows.len(), out.len());
        if query.is_empty() {
            return out.fill(0);
        }
        on_level!(self, level => level.dot_i8_rows(query, rows, out));
    }

    /// `out[i]` becomes the int8 dot product of `query` and row `at[i]` of `rows`.
    ///
    /// # Panics
    /// When `at` and `out` differ in length, or a row lies outside `rows`.
    pub fn dot_i8_at(self, query: &[i8], rows: &[i8], at: &[u32], out: &mut [i32]) {
        check_at(query.len(), rows.len(), at, out.len());
        if query.is_empty() {
            return out.fill(0);
        }
        on_level!(self, level => level.dot_i8_at(query, rows, at, out));
    }
}

/// Panics unless `rows` elements are exactly `count` rows of `width`.
pub(crate) fn check_rows(width: usize, rows: usize, count: usize) {
    assert_eq!(Some(rows), width.checked_mul(count), "rows do not fill the output");
}

/// Panics unless every row of `at` lies in `rows`, and there is one output for each.
pub(crate) fn check_at(width: usize, rows: usize, at: &[u32], count: usize) {
    assert_eq!(at.len(), count, "one output per row");
    let Some(held) = rows.checked_div(width) else { return };
    let last = at.iter().copied().max().map_or(0, |row| row as usize + 1);
    assert!(last <= held, "row outside the matrix");
}
