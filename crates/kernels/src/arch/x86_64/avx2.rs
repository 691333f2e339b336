//! AVX2 with FMA and POPCNT: 32 bytes at a time, tails in scalar code.
//!
//! Order of a float32 sum: 32 elements a step go to four accumulators of 8; what is left goes 8 at a time to
//! the first one; the lanes of (a0 + a1) + (a2 + a3) are added by halves, then the tail one by one.

use std::arch::x86_64::*;

use super::prefetch;
use crate::arch::scalar;

/// See the AVX-512 file.
const AHEAD: usize = 4096;

/// Proof that the CPU has the level; only [`Avx2::detect`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(crate) fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("popcnt");
        found.then_some(Self(()))
    }

    pub(crate) fn dot_f32_rows(self, query: &[f32], rows: &[f32], out: &mut [f32]) {
        // SAFETY: `self` exists only where `detect` found every feature that the function enables.
        unsafe { dot_f32_rows(query, rows, out) }
    }

    pub(crate) fn dot_f32_at(self, query: &[f32], rows: &[f32], at: &[u32], out: &mut [f32]) {
        // SAFETY: `self` exists only where `detect` found every feature that the function enables.
        unsafe { dot_f32_at(query, rows, at, out) }
    }

    pub(crate) fn dot_i8_rows(self, query: &[i8], rows: &[i8], out: &mut [i32]) {
        // SAFETY: `self` exists only where `detect` found every feature that the function enables.
        unsafe { dot_i8_rows(query, rows, out) }
    }

    pub(crate) fn dot_i8_at(self, query: &[i8], rows: &[i8], at: &[u32], out: &mut [i32]) {
        // SAFETY: `self` exists only where `detect` found every feature that the function enables.
        unsafe { dot_i8_at(query, rows, at, out) }
    }

    pub(crate) fn hamming_rows(self, query: &[u64], rows: &[u64], out: &mut [u32]) {
        // SAFETY: `self` exists only where `detect` found every feature that the function enables.
        unsafe { hamming_rows(query, rows, out) }
    }

    pub(crate) fn hamming_at(self, query: &[u64], rows: &[u64], at: &[u32], out: &mut [u32]) {
        // SAFETY: `self` exists only where `detect` found every feature that the function enables.
        unsafe { hamming_at(query, rows, at, out) }
    }

    pub(crate) fn mask_at_least(self, values: &[f32], bound: f32) -> u64 {
        // SAFETY: `self` exists only where `detect` found every feature that the function enables.
        unsafe { mask_at_least(values, bound) }
    }

    pub(crate) fn mask_at_most(self, values: &[u32], bound: u32) -> u64 {
        // SAFETY: `self` exists only where `detect` found every feature that the function enables.
        unsafe { mask_at_most(values, bound) }
    }

    pub(crate) fn mask_equal(self, values: &[u32], wanted: u32) -> u64 {
        // SAFETY: `self` exists only where `detect` found every feature that the function enables.
        unsafe { mask_equal(values, wanted) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_f32(chunk: &[f32; 8]) -> __m256 {
    // SAFETY: the array holds the 32 bytes that are read.
    unsafe { _mm256_loadu_ps(chunk.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_words(chunk: &[u64; 4]) -> __m256i {
    // SAFETY: the array holds the 32 bytes that are read.
    unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_u32(chunk: &[u32; 8]) -> __m256i {
    // SAFETY: the array holds the 32 bytes that are read.
    unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) }
}

/// 16 bytes, widened to int16.
#[inline]
#[target_feature(enable = "avx2")]
fn load_wide(chunk: &[i8; 16]) -> __m256i {
    // SAFETY: the array holds the 16 bytes that are read.
    let bytes = unsafe { _mm_loadu_si128(chunk.as_ptr().cast()) };
    _mm256_cvtepi8_epi16(bytes)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn dot_f32(query: &[f32], row: &[f32]) -> f32 {
    let (query_32, query_rest) = query.as_chunks::<32>();
    let (row_32, row_rest) = row.as_chunks::<32>();
    let mut sums = [_mm256_setzero_ps(); 4];
    for (q, r) in query_32.iter().zip(row_32) {
        let (q, r) = (q.as_chunks::<8>().0, r.as_chunks::<8>().0);
        for i in 0..4 {
            sums[i] = _mm256_fmadd_ps(load_f32(&q[i]), load_f32(&r[i]), sums[i]);
        }
    }
    let (query_8, query_tail) = query_rest.as_chunks::<8>();
    let (row_8, row_tail) = row_rest.as_chunks::<8>();
    for (q, r) in query_8.iter().zip(row_8) {
        sums[0] = _mm256_fmadd_ps(load_f32(q), load_f32(r), sums[0]);
    }
    let sum = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
    let four = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps::<1>(sum));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    let one = _mm_add_ss(two, _mm_movehdup_ps(two));
    query_tail.iter().zip(row_tail).fold(_mm_cvtss_f32(one), |sum, (q, r)| q.mul_add(*r, sum))
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn dot_f32_rows(query: &[f32], rows: &[f32], out: &mut [f32]) {
    let bytes = size_of_val(query);
    for (value, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        prefetch(row.as_ptr().wrapping_byte_add(AHEAD), bytes);
        *value = dot_f32(query, row);
    }
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn dot_f32_at(query: &[f32], rows: &[f32], at: &[u32], out: &mut [f32]) {
    let width = query.len();
    for (i, value) in out.iter_mut().enumerate() {
        if let Some(&next) = at.get(i + 2) {
            prefetch(rows.as_ptr().wrapping_add(next as usize * width), width * 4);
        }
        *value = dot_f32(query, &rows[at[i] as usize * width..][..width]);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum_i32(sum: __m256i) -> i32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
    let two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    let one = _mm_add_epi32(two, _mm_shuffle_epi32::<1>(two));
    _mm_cvtsi128_si32(one)
}

/// `R` rows share each widened piece of the query. Products of widened bytes are exact; the byte-pair
/// multiply of AVX2 saturates and is not used.
#[inline]
#[target_feature(enable = "avx2")]
fn dot_i8<const R: usize>(query: &[i8], rows: [&[i8]; R]) -> [i32; R] {
    let (query_16, query_tail) = query.as_chunks::<16>();
    let pieces = rows.map(|row| row.as_chunks::<16>());
    let mut sums = [_mm256_setzero_si256(); R];
    for (i, q) in query_16.iter().enumerate() {
        let q = load_wide(q);
        for (sum, (row, _)) in sums.iter_mut().zip(&pieces) {
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(q, load_wide(&row[i])));
        }
    }
    let mut out = [0; R];
    for ((out, sum), (_, tail)) in out.iter_mut().zip(sums).zip(&pieces) {
        let rest = query_tail
            .iter()
            .zip(*tail)
            .fold(0_i32, |sum, (q, r)| sum.wrapping_add(i32::from(*q) * i32::from(*r)));
        *out = sum_i32(sum).wrapping_add(rest);
    }
    out
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn dot_i8_rows(query: &[i8], rows: &[i8], out: &mut [i32]) {
    let width = query.len();
    let (out_4, out_rest) = out.as_chunks_mut::<4>();
    let mut groups = rows.chunks_exact(width * 4);
    for (values, group) in out_4.iter_mut().zip(groups.by_ref()) {
        prefetch(group.as_ptr().wrapping_byte_add(AHEAD), width * 4);
        let (low, high) = group.split_at(width * 2);
        let (first, second) = low.split_at(width);
        let (third, fourth) = high.split_at(width);
        *values = dot_i8(query, [first, second, third, fourth]);
    }
    for (value, row) in out_rest.iter_mut().zip(groups.remainder().chunks_exact(width)) {
        [*value] = dot_i8(query, [row]);
    }
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn dot_i8_at(query: &[i8], rows: &[i8], at: &[u32], out: &mut [i32]) {
    let width = query.len();
    for (i, value) in out.iter_mut().enumerate() {
        if let Some(&next) = at.get(i + 4) {
            prefetch(rows.as_ptr().wrapping_add(next as usize * width), width);
        }
        [*value] = dot_i8(query, [&rows[at[i] as usize * width..][..width]]);
    }
}

/// Bits per byte by two table look-ups of four bits each, then added up per 64-bit lane.
#[inline]
#[target_feature(enable = "avx2")]
fn count_bits(words: __m256i) -> __m256i {
    let table = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
    );
    let nibble = _mm256_set1_epi8(0x0f);
    let low = _mm256_and_si256(words, nibble);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(words), nibble);
    let bytes = _mm256_add_epi8(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high));
    _mm256_sad_epu8(bytes, _mm256_setzero_si256())
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn hamming(query: &[u64], row: &[u64]) -> u32 {
    let (query_4, query_rest) = query.as_chunks::<4>();
    let (row_4, row_rest) = row.as_chunks::<4>();
    let mut sum = _mm256_setzero_si256();
    for (q, r) in query_4.iter().zip(row_4) {
        let differ = _mm256_xor_si256(load_words(q), load_words(r));
        sum = _mm256_add_epi64(sum, count_bits(differ));
    }
    let two = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
    let one = _mm_add_epi64(two, _mm_unpackhi_epi64(two, two));
    let rest: u32 = query_rest.iter().zip(row_rest).map(|(q, r)| (q ^ r).count_ones()).sum();
    _mm_cvtsi128_si32(one).cast_unsigned() + rest
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn hamming_rows(query: &[u64], rows: &[u64], out: &mut [u32]) {
    for (value, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        *value = hamming(query, row);
    }
}

#[target_feature(enable = "avx2,fma,popcnt")]
fn hamming_at(query: &[u64], rows: &[u64], at: &[u32], out: &mut [u32]) {
    let width = query.len();
    for (i, value) in out.iter_mut().enumerate() {
        if let Some(&next) = at.get(i + 8) {
            prefetch(rows.as_ptr().wrapping_add(next as usize * width), width * 8);
        }
        *value = hamming(query, &rows[at[i] as usize * width..][..width]);
    }
}

/// Sign bits of eight lanes as the low bits of a mask.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes(flags: __m256i) -> u64 {
    u64::from(_mm256_movemask_ps(_mm256_castsi256_ps(flags)).cast_unsigned())
}

#[target_feature(enable = "avx2")]
fn mask_at_least(values: &[f32], bound: f32) -> u64 {
    let (chunks, rest) = values.as_chunks::<8>();
    let wanted = _mm256_set1_ps(bound);
    let mut mask = scalar::mask(rest, |value| value >= bound);
    for chunk in chunks.iter().rev() {
        let flags = _mm256_cmp_ps::<_CMP_GE_OQ>(load_f32(chunk), wanted);
        mask = (mask << 8) | lanes(_mm256_castps_si256(flags));
    }
    mask
}

#[target_feature(enable = "avx2")]
fn mask_at_most(values: &[u32], bound: u32) -> u64 {
    let (chunks, rest) = values.as_chunks::<8>();
    let wanted = _mm256_set1_epi32(bound.cast_signed());
    let mut mask = scalar::mask(rest, |value| value <= bound);
    for chunk in chunks.iter().rev() {
        // Unsigned: a value is at most the bound when the smaller of both is the value.
        let value = load_u32(chunk);
        mask = (mask << 8) | lanes(_mm256_cmpeq_epi32(_mm256_min_epu32(value, wanted), value));
    }
    mask
}

#[target_feature(enable = "avx2")]
fn mask_equal(values: &[u32], wanted: u32) -> u64 {
    let (chunks, rest) = values.as_chunks::<8>();
    let all = _mm256_set1_epi32(wanted.cast_signed());
    let mut mask = scalar::mask(rest, |value| value == wanted);
    for chunk in chunks.iter().rev() {
        mask = (mask << 8) | lanes(_mm256_cmpeq_epi32(load_u32(chunk), all));
    }
    mask
}
