//! Step 3 of the table's algorithm: the sum of the pieces' rows, as a unit vector.

use crate::format::{Layout, RowBits};

/// Order of the arithmetic, which a twin must repeat for equal bits: for each piece in text order, for each
/// dimension, `sum = f32(sum + f32(scale · entry))`; then the squares add up in f64 by ascending dimension;
/// then each entry is `f32(f64(sum) / norm)`. Without pieces, or when they cancel out, the row is zero.
pub(crate) fn pool(bytes: &[u8], layout: &Layout, pieces: &[u32], row: &mut [f32]) {
    assert_eq!(row.len(), layout.dimension, "the row has another dimension than the table");
    match layout.bits {
        RowBits::Four => sum_nibbles(bytes, layout, pieces, row),
        RowBits::Eight => sum_bytes(bytes, layout, pieces, row),
    }
    let squares: f64 = row.iter().fold(0.0, |sum, entry| sum + f64::from(*entry) * f64::from(*entry));
    let norm = squares.sqrt();
    if norm > 0.0 {
        for entry in row {
            *entry = (f64::from(*entry) / norm) as f32;
        }
    }
}

/// Low and high nibbles are summed apart, so that both loops run over neighbours and vectorise.
fn sum_nibbles(bytes: &[u8], layout: &Layout, pieces: &[u32], row: &mut [f32]) {
    let half = layout.dimension / 2;
    let mut sums = vec![0.0f32; layout.dimension];
    let (low, high) = sums.split_at_mut(half);
    for piece in pieces {
        let scale = layout.scale(bytes, *piece);
        let packed = layout.row(bytes, *piece);
        for ((low, high), byte) in low.iter_mut().zip(high.iter_mut()).zip(packed) {
            *low += scale * (i32::from(byte & 15) - 8) as f32;
            *high += scale * (i32::from(byte >> 4) - 8) as f32;
        }
    }
    for ((pair, low), high) in row.chunks_exact_mut(2).zip(low).zip(high) {
        pair[0] = *low;
        pair[1] = *high;
    }
}

fn sum_bytes(bytes: &[u8], layout: &Layout, pieces: &[u32], row: &mut [f32]) {
    row.fill(0.0);
    for piece in pieces {
        let scale = layout.scale(bytes, *piece);
        for (sum, byte) in row.iter_mut().zip(layout.row(bytes, *piece)) {
            *sum += scale * f32::from(*byte as i8);
        }
    }
}
