//! x86-64 levels.

mod avx2;
mod avx512;

pub(crate) use avx2::Avx2;
pub(crate) use avx512::Avx512;

use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

/// Asks for `N` cache lines (`stride` elements apart are the caller's concern) starting at `start`.
/// A prefetch never faults, so any address will do.
#[inline(always)]
fn prefetch<T>(start: *const T, bytes: usize) {
    let mut line = 0;
    while line < bytes {
        // SAFETY: a prefetch is a hint; it neither reads nor faults, wherever the address points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.cast::<i8>().wrapping_add(line)) };
        line += 64;
    }
}
