//! NEON: 16 bytes at a time, tails in scalar code. The dot-product extension is not used: its intrinsics are
//! not stable in the Rust version this workspace builds with.
//!
//! Order of a float32 sum: 16 elements a step go to four accumulators of 4; what is left goes 4 at a time to
//! the first one; the lanes of (a0 + a1) + (a2 + a3) are added pairwise, then the tail one by one.

use std::arch::aarch64::*;

use crate::arch::scalar::{self, Scalar};

/// Proof that the CPU has the level; only [`Neon::detect`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Neon {
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }

    pub(crate) fn dot_f32_rows(self, query: &[f32], rows: &[f32], out: &mut [f32]) {
        for (value, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
            // SAFETY: `self` exists only where `detect` found NEON.
            *value = unsafe { dot_f32(query, row) };
        }
    }

    pub(crate) fn dot_f32_at(self, query: &[f32], rows: &[f32], at: &[u32], out: &mut [f32]) {
        for (value, &row) in out.iter_mut().zip(at) {
            // SAFETY: `self` exists only where `detect` found NEON.
            *value = unsafe { dot_f32(query, &rows[row as usize * query.len()..][..query.len()]) };
        }
    }

    pub(crate) fn dot_i8_rows(self, query: &[i8], rows: &[i8], out: &mut [i32]) {
        for (value, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
            // SAFETY: `self` exists only where `detect` found NEON.
            *value = unsafe { dot_i8(query, row) };
        }
    }

    pub(crate) fn dot_i8_at(self, query: &[i8], rows: &[i8], at: &[u32], out: &mut [i32]) {
        for (value, &row) in out.iter_mut().zip(at) {
            // SAFETY: `self` exists only where `detect` found NEON.
            *value = unsafe { dot_i8(query, &rows[row as usize * query.len()..][..query.len()]) };
        }
    }

    pub(crate) fn hamming_rows(self, query: &[u64], rows: &[u64], out: &mut [u32]) {
        for (value, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
            // SAFETY: `self` exists only where `detect` found NEON.
            *value = unsafe { hamming(query, row) };
        }
    }

    pub(crate) fn hamming_at(self, query: &[u64], rows: &[u64], at: &[u32], out: &mut [u32]) {
        for (value, &row) in out.iter_mut().zip(at) {
            // SAFETY: `self` exists only where `detect` found NEON.
            *value = unsafe { hamming(query, &rows[row as usize * query.len()..][..query.len()]) };
        }
    }

    // NEON has no instruction that gathers lanes into bits; the portable loop is as good.

    pub(crate) fn mask_at_least(self, values: &[f32], bound: f32) -> u64 {
        Scalar.mask_at_least(values, bound)
    }

    pub(crate) fn mask_at_most(self, values: &[u32], bound: u32) -> u64 {
        Scalar.mask_at_most(values, bound)
    }

    pub(crate) fn mask_equal(self, values: &[u32], wanted: u32) -> u64 {
        scalar::mask(values, |value| value == wanted)
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_f32(chunk: &[f32; 4]) -> float32x4_t {
    // SAFETY: the array holds the 16 bytes that are read.
    unsafe { vld1q_f32(chunk.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_i8(chunk: &[i8; 16]) -> int8x16_t {
    // SAFETY: the array holds the 16 bytes that are read.
    unsafe { vld1q_s8(chunk.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_words(chunk: &[u64; 2]) -> uint64x2_t {
    // SAFETY: the array holds the 16 bytes that are read.
    unsafe { vld1q_u64(chunk.as_ptr()) }
}

#[target_feature(enable = "neon")]
fn dot_f32(query: &[f32], row: &[f32]) -> f32 {
    let (query_16, query_rest) = query.as_chunks::<16>();
    let (row_16, row_rest) = row.as_chunks::<16>();
    let mut sums = [vdupq_n_f32(0.0); 4];
    for (q, r) in query_16.iter().zip(row_16) {
        let (q, r) = (q.as_chunks::<4>().0, r.as_chunks::<4>().0);
        for i in 0..4 {
            sums[i] = vfmaq_f32(sums[i], load_f32(&q[i]), load_f32(&r[i]));
        }
    }
    let (query_4, query_tail) = query_rest.as_chunks::<4>();
    let (row_4, row_tail) = row_rest.as_chunks::<4>();
    for (q, r) in query_4.iter().zip(row_4) {
        sums[0] = vfmaq_f32(sums[0], load_f32(q), load_f32(r));
    }
    let sum = vaddvq_f32(vaddq_f32(vaddq_f32(sums[0], sums[1]), vaddq_f32(sums[2], sums[3])));
    query_tail.iter().zip(row_tail).fold(sum, |sum, (q, r)| q.mul_add(*r, sum))
}

#[target_feature(enable = "neon")]
fn dot_i8(query: &[i8], row: &[i8]) -> i32 {
    let (query_16, query_tail) = query.as_chunks::<16>();
    let (row_16, row_tail) = row.as_chunks::<16>();
    let mut sums = [vdupq_n_s32(0); 2];
    for (q, r) in query_16.iter().zip(row_16) {
        let (q, r) = (load_i8(q), load_i8(r));
        sums[0] = vpadalq_s16(sums[0], vmull_s8(vget_low_s8(q), vget_low_s8(r)));
        sums[1] = vpadalq_s16(sums[1], vmull_high_s8(q, r));
    }
    let rest = query_tail
        .iter()
        .zip(row_tail)
        .fold(0_i32, |sum, (q, r)| sum.wrapping_add(i32::from(*q) * i32::from(*r)));
    vaddvq_s32(vaddq_s32(sums[0], sums[1])).wrapping_add(rest)
}

#[target_feature(enable = "neon")]
fn hamming(query: &[u64], row: &[u64]) -> u32 {
    let (query_2, query_tail) = query.as_chunks::<2>();
    let (row_2, row_tail) = row.as_chunks::<2>();
    let mut sum = vdupq_n_u64(0);
    for (q, r) in query_2.iter().zip(row_2) {
        let bytes = vcntq_u8(vreinterpretq_u8_u64(veorq_u64(load_words(q), load_words(r))));
        sum = vaddq_u64(sum, vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(bytes))));
    }
    let rest: u32 = query_tail.iter().zip(row_tail).map(|(q, r)| (q ^ r).count_ones()).sum();
    vaddvq_u64(sum) as u32 + rest
}
