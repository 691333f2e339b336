//! The reference in portable Rust. Integer results of the other levels equal these; float32 results lie
//! within the bound of the crate documentation.

/// Portable code needs no proof of a CPU feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl Scalar {
    pub(crate) fn dot_f32_rows(self, query: &[f32], rows: &[f32], out: &mut [f32]) {
        for (value, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
            *value = dot_f32(query, row);
        }
    }

    pub(crate) fn dot_f32_at(self, query: &[f32], rows: &[f32], at: &[u32], out: &mut [f32]) {
        for (value, &row) in out.iter_mut().zip(at) {
            *value = dot_f32(query, &rows[row as usize * query.len()..][..query.len()]);
        }
    }

    pub(crate) fn dot_i8_rows(self, query: &[i8], rows: &[i8], out: &mut [i32]) {
        for (value, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
            *value = dot_i8(query, row);
        }
    }

    pub(crate) fn dot_i8_at(self, query: &[i8], rows: &[i8], at: &[u32], out: &mut [i32]) {
        for (value, &row) in out.iter_mut().zip(at) {
            *value = dot_i8(query, &rows[row as usize * query.len()..][..query.len()]);
        }
    }

    pub(crate) fn hamming_rows(self, query: &[u64], rows: &[u64], out: &mut [u32]) {
        for (value, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
            *value = hamming(query, row);
        }
    }

    pub(crate) fn hamming_at(self, query: &[u64], rows: &[u64], at: &[u32], out: &mut [u32]) {
        for (value, &row) in out.iter_mut().zip(at) {
            *value = hamming(query, &rows[row as usize * query.len()..][..query.len()]);
        }
    }

    pub(crate) fn mask_at_least(self, values: &[f32], bound: f32) -> u64 {
        mask(values, |value| value >= bound)
    }

    pub(crate) fn mask_at_most(self, values: &[u32], bound: u32) -> u64 {
        mask(values, |value| value <= bound)
    }

    pub(crate) fn mask_equal(self, values: &[u32], wanted: u32) -> u64 {
        mask(values, |value| value == wanted)
    }
}

/// Eight partial sums, element `i` going to sum `i mod 8`, added in order of their number. Eight, because
/// compilers turn that into two or four vector registers without being asked.
fn dot_f32(query: &[f32], row: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    let (query_eights, query_rest) = query.as_chunks::<8>();
    let (row_eights, row_rest) = row.as_chunks::<8>();
    for (a, b) in query_eights.iter().zip(row_eights) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    for ((sum, a), b) in sums.iter_mut().zip(query_rest).zip(row_rest) {
        *sum += a * b;
    }
    sums.iter().sum()
}

fn dot_i8(query: &[i8], row: &[i8]) -> i32 {
    query.iter().zip(row).fold(0_i32, |sum, (a, b)| sum.wrapping_add(i32::from(*a) * i32::from(*b)))
}

fn hamming(query: &[u64], row: &[u64]) -> u32 {
    query.iter().zip(row).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// One bit per value, in order; shared by levels that have no better way, and for tails.
pub(crate) fn mask<T: Copy>(values: &[T], passes: impl Fn(T) -> bool) -> u64 {
    values.iter().enumerate().fold(0, |mask, (i, value)| mask | (u64::from(passes(*value)) << i))
}
