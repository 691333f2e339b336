//! Every instruction set of this CPU against the scalar kernels, on any numbers and shapes.

#![no_main]

use cpersona_kernels::{Isa, Kernels};
use libfuzzer_sys::fuzz_target;

fn floats(bytes: &[u8]) -> Vec<f32> {
    let all = bytes.as_chunks::<4>().0.iter().map(|word| f32::from_ne_bytes(*word));
    // Vectors are finite, and of unit length: anything huge is refused before it gets here.
    all.map(|value| if value.is_finite() { value.clamp(-1e3, 1e3) } else { 0.0 }).collect()
}

fuzz_target!(|input: &[u8]| {
    let Some((&[low, high], bytes)) = input.split_first_chunk::<2>() else { return };
    let dimension = usize::from(low) + usize::from(high % 4) * 256 + 1;
    let scalar = Kernels::for_isa(Isa::Scalar).expect("scalar is everywhere");
    for isa in Isa::available() {
        let kernels = Kernels::for_isa(isa).expect("it was listed");
        let values = floats(bytes);
        if let Some((query, rows)) = values.split_at_checked(dimension) {
            let count = rows.len() / dimension;
            let rows = &rows[..count * dimension];
            let (mut found, mut expected) = (vec![0.0; count], vec![0.0; count]);
            kernels.dot_f32_rows(query, rows, &mut found);
            scalar.dot_f32_rows(query, rows, &mut expected);
            for (i, row) in rows.chunks_exact(dimension).enumerate() {
                let size: f64 = query.iter().zip(row).map(|(q, r)| f64::from((q * r).abs())).sum();
                let bound = (dimension as f64 + 8.0) * f64::from(f32::EPSILON) * size + 1e-30;
                assert!(f64::from((found[i] - expected[i]).abs()) <= bound, "{isa} row {i} of {dimension}");
            }
            for floor in [0.0, expected.first().copied().unwrap_or(0.0)] {
                let few = &expected[..count.min(64)];
                assert_eq!(kernels.mask_at_least(few, floor), scalar.mask_at_least(few, floor), "{isa}");
            }
        }
        let small: Vec<i8> = bytes.iter().map(|byte| byte.cast_signed()).collect();
        if let Some((query, rows)) = small.split_at_checked(dimension) {
            let count = rows.len() / dimension;
            let (mut found, mut expected) = (vec![0; count], vec![0; count]);
            kernels.dot_i8_rows(query, &rows[..count * dimension], &mut found);
            scalar.dot_i8_rows(query, &rows[..count * dimension], &mut expected);
            assert_eq!(found, expected, "{isa} int8 of {dimension}");
        }
        let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        let width = dimension.div_ceil(64);
        if let Some((query, rows)) = words.split_at_checked(width) {
            let count = rows.len() / width;
            let (mut found, mut expected) = (vec![0; count], vec![0; count]);
            kernels.hamming_rows(query, &rows[..count * width], &mut found);
            scalar.hamming_rows(query, &rows[..count * width], &mut expected);
            assert_eq!(found, expected, "{isa} bits of {dimension}");
        }
    }
});
