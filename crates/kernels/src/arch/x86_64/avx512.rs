//! AVX-512 with VNNI and VPOPCNTDQ: 64 bytes at a time, tails by masked loads.
//!
//! Order of a float32 sum: 64 elements a step go to four accumulators of 16; what is left goes 16 at a time
//! to the first one; sum = reduce((a0 + a1) + (a2 + a3)). The same for one row and for many.

use std::arch::x86_64::*;

use super::prefetch;
use crate::arch::scalar;

/// How far ahead of the row being read a sequential scan asks for memory. The hardware prefetcher stops at
/// each 4 KiB page; measured on 614 MB of float32 rows.
const AHEAD: usize = 4096;

/// Proof that the CPU has the level; only [`Avx512::detect`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub(crate) fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni")
            && is_x86_feature_detected!("avx512vpopcntdq");
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
#[target_feature(enable = "avx512f")]
fn load_f32(chunk: &[f32; 16]) -> __m512 {
    // SAFETY: the array holds the 64 bytes that are read.
    unsafe { _mm512_loadu_ps(chunk.as_ptr()) }
}

/// The first elements of a vector shorter than 16; the rest is zero.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_f32_tail(rest: &[f32]) -> __m512 {
    let lanes = ((1_u32 << rest.len()) - 1) as __mmask16;
    // SAFETY: only lanes below `rest.len()` are read; masked lanes cannot fault.
    unsafe { _mm512_maskz_loadu_ps(lanes, rest.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_i8(chunk: &[i8; 64]) -> __m512i {
    // SAFETY: the array holds the 64 bytes that are read.
    unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) }
}

/// The first bytes of a vector shorter than 64; the rest is zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_i8_tail(rest: &[i8]) -> __m512i {
    let lanes = (1_u64 << rest.len()) - 1;
    // SAFETY: only lanes below `rest.len()` are read; masked lanes cannot fault.
    unsafe { _mm512_maskz_loadu_epi8(lanes, rest.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn dot_f32(query: &[f32], row: &[f32]) -> f32 {
    let (query_64, query_rest) = query.as_chunks::<64>();
    let (row_64, row_rest) = row.as_chunks::<64>();
    let mut sums = [_mm512_setzero_ps(); 4];
    for (q, r) in query_64.iter().zip(row_64) {
        let (q, r) = (q.as_chunks::<16>().0, r.as_chunks::<16>().0);
        for i in 0..4 {
            sums[i] = _mm512_fmadd_ps(load_f32(&q[i]), load_f32(&r[i]), sums[i]);
        }
    }
    if !query_rest.is_empty() {
        let (query_16, query_tail) = query_rest.as_chunks::<16>();
        let (row_16, row_tail) = row_rest.as_chunks::<16>();
        for (q, r) in query_16.iter().zip(row_16) {
            sums[0] = _mm512_fmadd_ps(load_f32(q), load_f32(r), sums[0]);
        }
        if !query_tail.is_empty() {
            sums[0] = _mm512_fmadd_ps(load_f32_tail(query_tail), load_f32_tail(row_tail), sums[0]);
        }
    }
    let low = _mm512_add_ps(sums[0], sums[1]);
    let high = _mm512_add_ps(sums[2], sums[3]);
    _mm512_reduce_add_ps(_mm512_add_ps(low, high))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512vpopcntdq")]
fn dot_f32_rows(query: &[f32], rows: &[f32], out: &mut [f32]) {
    let bytes = size_of_val(query);
    for (value, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        prefetch(row.as_ptr().wrapping_byte_add(AHEAD), bytes);
        *value = dot_f32(query, row);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512vpopcntdq")]
fn dot_f32_at(query: &[f32], rows: &[f32], at: &[u32], out: &mut [f32]) {
    let width = query.len();
    for (i, value) in out.iter_mut().enumerate() {
        if let Some(&next) = at.get(i + 2) {
            prefetch(rows.as_ptr().wrapping_add(next as usize * width), width * 4);
        }
        *value = dot_f32(query, &rows[at[i] as usize * width..][..width]);
    }
}

/// VNNI multiplies unsigned by signed bytes. With the row offset by 128 (its sign bit flipped) the sum is
/// Σ q (r + 128), so 128 Σ q, the same for every row, is taken off at the end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn dot_i8(query: &[i8], row: &[i8], offset: i32) -> i32 {
    let flip = _mm512_set1_epi8(i8::MIN);
    let (query_128, query_rest) = query.as_chunks::<128>();
    let (row_128, row_rest) = row.as_chunks::<128>();
    let mut sums = [_mm512_setzero_si512(); 2];
    for (q, r) in query_128.iter().zip(row_128) {
        let (q, r) = (q.as_chunks::<64>().0, r.as_chunks::<64>().0);
        for i in 0..2 {
            let row = _mm512_xor_si512(load_i8(&r[i]), flip);
            sums[i] = _mm512_dpbusd_epi32(sums[i], row, load_i8(&q[i]));
        }
    }
    if !query_rest.is_empty() {
        let (query_64, query_tail) = query_rest.as_chunks::<64>();
        let (row_64, row_tail) = row_rest.as_chunks::<64>();
        for (q, r) in query_64.iter().zip(row_64) {
            sums[0] = _mm512_dpbusd_epi32(sums[0], _mm512_xor_si512(load_i8(r), flip), load_i8(q));
        }
        if !query_tail.is_empty() {
            // Lanes past the end multiply 128 by a zero of the query.
            let row = _mm512_xor_si512(load_i8_tail(row_tail), flip);
            sums[1] = _mm512_dpbusd_epi32(sums[1], row, load_i8_tail(query_tail));
        }
    }
    _mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1])).wrapping_sub(offset)
}

fn offset_of(query: &[i8]) -> i32 {
    query.iter().fold(0_i32, |sum, q| sum.wrapping_add(i32::from(*q) << 7))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512vpopcntdq")]
fn dot_i8_rows(query: &[i8], rows: &[i8], out: &mut [i32]) {
    let offset = offset_of(query);
    for (value, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        prefetch(row.as_ptr().wrapping_byte_add(AHEAD), query.len());
        *value = dot_i8(query, row, offset);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512vpopcntdq")]
fn dot_i8_at(query: &[i8], rows: &[i8], at: &[u32], out: &mut [i32]) {
    let width = query.len();
    let offset = offset_of(query);
    for (i, value) in out.iter_mut().enumerate() {
        if let Some(&next) = at.get(i + 4) {
            prefetch(rows.as_ptr().wrapping_add(next as usize * width), width);
        }
        *value = dot_i8(query, &rows[at[i] as usize * width..][..width], offset);
    }
}

/// The words of the lanes that are set; the rest is zero.
///
/// # Safety
/// `words` must reach to the highest lane that is set.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load_words(words: &[u64], lanes: __mmask8) -> __m512i {
    // SAFETY: the caller vouches for every lane that is read; masked lanes cannot fault.
    unsafe { _mm512_maskz_loadu_epi64(lanes, words.as_ptr().cast()) }
}

#[inline]
fn lanes_of(words: usize) -> __mmask8 {
    if words >= 8 { 0xff } else { ((1_u32 << words) - 1) as __mmask8 }
}

/// The query in registers, with the lanes that each of them fills.
struct Words<const N: usize> {
    query: [__m512i; N],
    lanes: [__mmask8; N],
}

impl<const N: usize> Words<N> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(query: &[u64]) -> Self {
        let mut this = Self { query: [_mm512_setzero_si512(); N], lanes: [0; N] };
        for i in 0..N {
            let part = &query[i * 8..];
            this.lanes[i] = lanes_of(part.len());
            // SAFETY: the lanes were made from the length of `part`.
            this.query[i] = unsafe { load_words(part, this.lanes[i]) };
        }
        this
    }

    /// Differing bits per lane.
    ///
    /// # Safety
    /// `row` must be as long as the query.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    unsafe fn counts(&self, row: &[u64]) -> __m512i {
        let mut sum = _mm512_setzero_si512();
        for i in 0..N {
            // SAFETY: the lanes fit the query, and the row is as long.
            let words = unsafe { load_words(&row[i * 8..], self.lanes[i]) };
            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_xor_si512(words, self.query[i])));
        }
        sum
    }
}

/// Eight rows at once: four rows share a register with 16 bits per lane and row, so that one reduction over
/// the lanes serves all eight. Needs a distance below 65,536.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
fn hamming_short<const N: usize>(query: &[u64], rows: &[u64], out: &mut [u32]) {
    let width = query.len();
    let words = Words::<N>::new(query);
    let (out_8, out_rest) = out.as_chunks_mut::<8>();
    let mut groups = rows.chunks_exact(width * 8);
    for (values, group) in out_8.iter_mut().zip(groups.by_ref()) {
        prefetch(group.as_ptr().wrapping_byte_add(AHEAD), width * 64);
        let mut packed = [_mm512_setzero_si512(); 2];
        for (half, sums) in packed.iter_mut().enumerate() {
            let rows = &group[half * 4 * width..][..4 * width];
            // SAFETY: each of the four slices is one row, as long as the query.
            let count = |row: usize| unsafe { words.counts(&rows[row * width..][..width]) };
            let first = count(0);
            let second = _mm512_slli_epi64::<16>(count(1));
            let third = _mm512_slli_epi64::<32>(count(2));
            let fourth = _mm512_slli_epi64::<48>(count(3));
            *sums = _mm512_add_epi64(_mm512_add_epi64(first, second), _mm512_add_epi64(third, fourth));
        }
        // Lanes alternate between the halves, then fold 512 to 128 bits.
        let pairs = _mm512_add_epi64(
            _mm512_unpacklo_epi64(packed[0], packed[1]),
            _mm512_unpackhi_epi64(packed[0], packed[1]),
        );
        let quads = _mm256_add_epi64(_mm512_castsi512_si256(pairs), _mm512_extracti64x4_epi64::<1>(pairs));
        let sums = _mm_add_epi64(_mm256_castsi256_si128(quads), _mm256_extracti128_si256::<1>(quads));
        let wide = _mm256_cvtepu16_epi32(sums);
        // SAFETY: `values` holds the 32 bytes that are written.
        unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), wide) };
    }
    for (value, row) in out_rest.iter_mut().zip(groups.remainder().chunks_exact(width)) {
        // SAFETY: `row` is one row, as long as the query.
        *value = _mm512_reduce_add_epi64(unsafe { words.counts(row) }) as u32;
    }
}

/// Any number of words; up to 24 the query stays in registers and `hamming_short` is used.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn hamming_long(query: &[u64], row: &[u64]) -> u32 {
    let mut sum = _mm512_setzero_si512();
    for (q, r) in query.chunks(8).zip(row.chunks(8)) {
        let lanes = lanes_of(q.len().min(r.len()));
        // SAFETY: the lanes fit the shorter of the two.
        let query = unsafe { load_words(q, lanes) };
        // SAFETY: as above.
        let row = unsafe { load_words(r, lanes) };
        let differ = _mm512_xor_si512(query, row);
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(differ));
    }
    _mm512_reduce_add_epi64(sum) as u32
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512vpopcntdq")]
fn hamming_rows(query: &[u64], rows: &[u64], out: &mut [u32]) {
    match query.len() {
        1..=8 => hamming_short::<1>(query, rows, out),
        9..=16 => hamming_short::<2>(query, rows, out),
        17..=24 => hamming_short::<3>(query, rows, out),
        width => {
            for (value, row) in out.iter_mut().zip(rows.chunks_exact(width)) {
                *value = hamming_long(query, row);
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx512vpopcntdq")]
fn hamming_at(query: &[u64], rows: &[u64], at: &[u32], out: &mut [u32]) {
    let width = query.len();
    for (i, value) in out.iter_mut().enumerate() {
        if let Some(&next) = at.get(i + 8) {
            prefetch(rows.as_ptr().wrapping_add(next as usize * width), width * 8);
        }
        *value = hamming_long(query, &rows[at[i] as usize * width..][..width]);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_u32(chunk: &[u32; 16]) -> __m512i {
    // SAFETY: the array holds the 64 bytes that are read.
    unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn mask_at_least(values: &[f32], bound: f32) -> u64 {
    let (chunks, rest) = values.as_chunks::<16>();
    let wanted = _mm512_set1_ps(bound);
    let mut mask = scalar::mask(rest, |value| value >= bound);
    for chunk in chunks.iter().rev() {
        mask = (mask << 16) | u64::from(_mm512_cmp_ps_mask::<_CMP_GE_OQ>(load_f32(chunk), wanted));
    }
    mask
}

#[target_feature(enable = "avx512f")]
fn mask_at_most(values: &[u32], bound: u32) -> u64 {
    let (chunks, rest) = values.as_chunks::<16>();
    let wanted = _mm512_set1_epi32(bound.cast_signed());
    let mut mask = scalar::mask(rest, |value| value <= bound);
    for chunk in chunks.iter().rev() {
        mask = (mask << 16) | u64::from(_mm512_cmple_epu32_mask(load_u32(chunk), wanted));
    }
    mask
}

#[target_feature(enable = "avx512f")]
fn mask_equal(values: &[u32], wanted: u32) -> u64 {
    let (chunks, rest) = values.as_chunks::<16>();
    let all = _mm512_set1_epi32(wanted.cast_signed());
    let mut mask = scalar::mask(rest, |value| value == wanted);
    for chunk in chunks.iter().rev() {
        mask = (mask << 16) | u64::from(_mm512_cmpeq_epi32_mask(load_u32(chunk), all));
    }
    mask
}
